/** The cheapest workflow there is. */
export async function noOp(): Promise<number> {
  return 1;
}

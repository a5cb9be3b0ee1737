/** The first rows, or all without a limit. No page beyond them is read. */
export async function* limited<Row>(rows: AsyncIterable<Row>, limit: number | undefined): AsyncIterable<Row> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const row of rows) {
    yield row;
    left -= 1;
    if (left <= 0) return;
  }
}

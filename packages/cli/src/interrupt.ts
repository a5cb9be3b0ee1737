/** Runs the work with a signal that the first Ctrl-C aborts. A second one ends the program at once. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt);
  try {
    return await work(interrupted.signal);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

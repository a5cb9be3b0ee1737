import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';

/** Has a folder made under another name first, so that it is there as a whole or not at all. Safe in several processes. */
export async function buildAside(folder: string, make: (unfinished: string) => Promise<void>): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  try {
    await make(unfinished);
    await rename(unfinished, folder).catch((error: Error) => {
      // Another process was faster.
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

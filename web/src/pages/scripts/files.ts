import type { Script } from './script-types.ts';

/** A file of the form: one that the script has already, or one with its content in base64. */
export interface FileDraft {
  filename: string;
  content?: string;
}

const CHUNK = 0x8000;
/** What the server takes of a script's files, in bytes. */
const MAX_BYTES = 1_000_000;

/** The files that a script has. */
export function filesOf({ attachments }: Pick<Script, 'attachments'>): FileDraft[] {
  return attachments.map(({ filename }) => ({ filename }));
}

/** The bytes of a file that its content in base64 stands for. */
export function sizeOf(content: string): number {
  return (content.length / 4) * 3 - (/=*$/.exec(content)?.[0].length ?? 0);
}

/** Whether the server takes the files, which are not worth keeping otherwise. */
export function areAcceptable(files: readonly FileDraft[]): boolean {
  return files.reduce((sum, { content }) => sum + sizeOf(content ?? ''), 0) <= MAX_BYTES;
}

/** Adds files; one with the name of another replaces it. */
export async function addFiles(files: readonly FileDraft[], chosen: Iterable<File>): Promise<FileDraft[]> {
  const added = await Promise.all(
    [...chosen].map(async (file) => ({
      filename: file.name,
      content: base64(new Uint8Array(await file.arrayBuffer())),
    })),
  );
  const isReplaced = ({ filename }: FileDraft) => added.some((file) => file.filename === filename);
  return [...files.filter((file) => !isReplaced(file)), ...added];
}

function base64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(text);
}

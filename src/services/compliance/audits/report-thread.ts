import { createBriefReader } from './brief-reading.ts';

/** A report, and digests of the caller's rule sets. */
export interface ReadingRequest {
  report: Uint8Array;
  sets: readonly string[];
}

const read = createBriefReader();

export default ({ report, sets }: ReadingRequest) => read(report, sets);

/** Resolves in the calling thread once this one has started. */
export const start = () => null;

import type { ActingDeps } from '../activities/computer-actions.ts';

export interface ScriptsDeps extends ActingDeps {
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}

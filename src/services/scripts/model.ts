import type { ScriptWithCode } from '../../persistence/scripts/scripts.sql.ts';
import type { Patch } from '../common/fields.ts';
import type { ActingQuery } from '../query/computer-queries.ts';
import type { ActingDeps } from '../activities/computer-actions.ts';

export type ScriptView = Omit<ScriptWithCode, 'code' | 'account_id' | 'access_group_id'> & {
  redactable: boolean;
  editable: boolean;
  executable: boolean;
  code?: string | null;
};

export interface ScriptQuery {
  status: 'active' | 'archived' | 'redacted' | null;
  search: string | null;
  limit: number;
  offset: number;
}

/** A file of a request; without content the existing file of that name is kept. */
export interface AttachmentUpload {
  filename: string;
  content: string | null;
}

export interface ScriptRequest {
  title: string;
  code: string;
  /** In seconds; null for the default. */
  timeLimit: number | null;
  username: string | null;
  accessGroup: string | null;
  attachments: readonly AttachmentUpload[];
}

/** Attachments replace all files of the script. */
export type ScriptPatch = Patch<
  Pick<ScriptRequest, 'title' | 'code' | 'attachments'> & { timeLimit: number; username: string; accessGroup: string }
>;

export interface ScriptCommand {
  query: ActingQuery;
  username: string | null;
  timeLimit: number | null;
  deliverAfter: string | null;
  windowMinutes: number;
  after: number | null;
  traceparent: string | null;
}

export interface ScriptsDeps extends ActingDeps {
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}

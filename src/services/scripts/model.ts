import type { ScriptWithCode } from '../../persistence/scripts/scripts.repository.ts';
import type { ActingQuery } from '../query/computer-queries.ts';
import type { ActingDeps } from '../activities/computer-actions.ts';

export interface ScriptActions {
  redactable: boolean;
  editable: boolean;
  executable: boolean;
}

/** Without code in lists. */
export type Script = Omit<ScriptWithCode, 'code' | 'account_id' | 'access_group_id'> &
  ScriptActions & { code?: string | null };

export interface ScriptQuery {
  /** Null for all. */
  status: 'active' | 'archived' | 'redacted' | null;
  /** Part of the title; null for all. */
  search: string | null;
  limit: number;
  offset: number;
}

/** A file of a request; without content the existing file of that name is kept. */
export interface AttachmentUpload {
  filename: string;
  /** Base64. */
  content: string | null;
}

export interface ScriptRequest {
  title: string;
  /** Text with its `#!` line. */
  code: string;
  /** In seconds; null for the default. */
  timeLimit: number | null;
  username: string | null;
  /** Name of an access group; null for the root. */
  accessGroup: string | null;
  attachments: readonly AttachmentUpload[];
}

/** Absent parts do not change. */
export interface ScriptPatch {
  title?: string | undefined;
  code?: string | undefined;
  timeLimit?: number | undefined;
  username?: string | undefined;
  accessGroup?: string | undefined;
  /** Replaces all files of the script. */
  attachments?: readonly AttachmentUpload[] | undefined;
}

export interface ScriptCommand {
  query: ActingQuery;
  username: string | null;
  timeLimit: number | null;
  /** ISO 8601; null means immediately. */
  deliverAfter: string | null;
  windowMinutes: number;
  /** Activity that must succeed on each computer first; null for none. */
  after: number | null;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

export interface ScriptsDeps extends ActingDeps {
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}

import type { ScriptWithCode } from '../../persistence/scripts/scripts.repository.ts';
import type { ActingQuery } from '../query/computer-queries.ts';
import type { ActingDeps } from '../activities/computer-actions.ts';

/** What the caller may do with a script as it stands. */
export interface ScriptActions {
  redactable: boolean;
  editable: boolean;
  executable: boolean;
}

/** A script as it is read; lists carry no code. */
export type Script = Omit<ScriptWithCode, 'code' | 'account_id' | 'access_group_id'> &
  ScriptActions & { code?: string | null };

/** A request for a page of scripts. */
export interface ScriptQuery {
  /** Null for all. */
  status: 'active' | 'archived' | 'redacted' | null;
  /** Part of the title; null for all. */
  search: string | null;
  limit: number;
  offset: number;
}

/** A file of a request; without content one of that name which is there already stays. */
export interface AttachmentUpload {
  filename: string;
  /** Base64. */
  content: string | null;
}

export interface ScriptRequest {
  title: string;
  /** Text with its `#!` line. */
  code: string;
  /** Seconds; null for the default. */
  timeLimit: number | null;
  username: string | null;
  /** Name of an access group; null for the root. */
  accessGroup: string | null;
  attachments: readonly AttachmentUpload[];
}

/** What a request changes; absent parts stay. */
export interface ScriptPatch {
  title?: string | undefined;
  code?: string | undefined;
  timeLimit?: number | undefined;
  username?: string | undefined;
  /** Name of an access group. */
  accessGroup?: string | undefined;
  /** All files the script has from now on. */
  attachments?: readonly AttachmentUpload[] | undefined;
}

/** A request to run a script once. */
export interface ScriptCommand {
  query: ActingQuery;
  username: string | null;
  timeLimit: number | null;
  /** ISO 8601; null: at once. */
  deliverAfter: string | null;
  windowMinutes: number;
  /** Activity that has to succeed on each computer first; null for none. */
  after: number | null;
  /** W3C trace context of the request. */
  traceparent: string | null;
}

export interface ScriptsDeps extends ActingDeps {
  /** Base of absolute links, without a trailing slash. */
  publicUrl: string;
}

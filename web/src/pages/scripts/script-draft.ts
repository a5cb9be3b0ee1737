import type { components } from '@flotilla/client';
import { type FileDraft, filesOf } from './files.ts';
import type { Script } from './script-types.ts';
import { codeOf } from './script-code.ts';

type ScriptRequest = components['schemas']['ScriptRequest'];
type ScriptPatch = components['schemas']['ScriptPatch'];

/** The form of a script, without its files. Numbers are texts, as fields have them. */
export interface ScriptDraft {
  title: string;
  code: string;
  username: string;
  timeLimit: string;
  accessGroup: string;
  /** When the script was last changed before this form was opened; empty for a new one. */
  base: string;
}

/** An empty form. */
export const NEW_SCRIPT: ScriptDraft = {
  title: '',
  code: '#!/bin/bash\nset -eu\n\n',
  username: 'root',
  timeLimit: '300',
  accessGroup: 'global',
  base: '',
};

/** The form of a script that exists. */
export function draftOf(script: Script): ScriptDraft {
  return {
    title: script.title,
    code: codeOf(script),
    username: script.username,
    timeLimit: String(script.time_limit),
    accessGroup: script.access_group,
    base: script.last_edited_at,
  };
}

/** What the form creates. */
export function requestOf(draft: ScriptDraft, files: readonly FileDraft[]): ScriptRequest {
  return {
    title: draft.title,
    code: draft.code,
    username: draft.username,
    time_limit: Number(draft.timeLimit),
    access_group: draft.accessGroup,
    attachments: files.map(({ filename, content = '' }) => ({ filename, content })),
  };
}

/** What the form changes. Code and files that stay are left out: they need further permissions where profiles run the script. */
export function patchOf(draft: ScriptDraft, files: readonly FileDraft[], script: Script): ScriptPatch {
  const before = draftOf(script);
  const sameFiles = JSON.stringify(files) === JSON.stringify(filesOf(script));
  return {
    ...(draft.title !== before.title && { title: draft.title }),
    ...(draft.code !== before.code && { code: draft.code }),
    ...(draft.username !== before.username && { username: draft.username }),
    ...(draft.timeLimit !== before.timeLimit && { time_limit: Number(draft.timeLimit) }),
    ...(draft.accessGroup !== before.accessGroup && { access_group: draft.accessGroup }),
    ...(!sameFiles && { attachments: [...files] }),
  };
}

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../../api/client.ts';
import { usePageSearch } from '../../../url/use-page-search.ts';
import { fieldError } from '../../../ui/error-message.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Facts } from '../../../ui/page.tsx';
import { useDraft } from '../../../ui/use-draft.ts';
import { useZone } from '../../../ui/times/use-zone.ts';
import { activeScriptsQuery } from '../queries.ts';
import type { ScriptProfile } from '../profile-types.ts';
import { useNextDates } from './next-dates.tsx';
import { ProfileForm, useSave } from './profile-form.tsx';
import { ScopeFields } from './scope-fields.tsx';
import {
  newScriptProfileDraft,
  type ScriptProfileDraft,
  scriptCommand,
  scriptDatesPatch,
  scriptDatesRequest,
  scriptProfileDraftOf,
  scriptPatch,
  scriptRequest,
} from './script-profile-draft.ts';
import { TriggerFields } from './trigger-fields.tsx';

interface PartProps {
  draft: ScriptProfileDraft;
  change: (changes: Partial<ScriptProfileDraft>) => void;
  error: unknown;
}

/** Creates a script profile; `?script=` chooses its script. */
export function NewScriptProfile() {
  const { get } = usePageSearch();
  const zone = useZone();
  const [initial] = useState(() => newScriptProfileDraft(get('script'), zone));
  const { draft, change, clear, isDirty } = useDraft('script-profile.new', initial);
  const body = scriptRequest(draft);
  const save = useSave('script', async () => (await client.POST('/script-profiles', { body })).data, clear);
  const dates = useNextDates({
    kind: 'script',
    body: scriptDatesRequest(draft),
    read: (dated, signal) => client.POST('/script-profiles:preview-dates', { body: dated, signal }),
  });
  const parts = { draft, change, error: save.error };
  return (
    <ProfileForm
      verb="Create"
      save={save}
      isDirty={isDirty}
      onDiscard={() => {
        change(initial);
        clear();
      }}
      request={{ method: 'POST', path: '/script-profiles', body }}
      command={scriptCommand(draft)}
    >
      <TitleField {...parts} />
      <ScriptField {...parts} />
      <RunFields {...parts} />
      <Scope {...parts} />
      <TriggerFields {...parts} dates={dates} />
    </ProfileForm>
  );
}

/** Changes a script profile: its script stays. */
export function EditScriptProfile({ profile, scriptTitle }: { profile: ScriptProfile; scriptTitle: string }) {
  const [initial] = useState(() => scriptProfileDraftOf(profile));
  const { draft, change, clear, isDirty } = useDraft(`script-profile.${profile.id}`, initial);
  const body = scriptPatch(draft, profile);
  const params = { path: { script_profile_id: profile.id } };
  const send = async () => (await client.PATCH('/script-profiles/{script_profile_id}', { params, body })).data;
  const save = useSave('script', send, clear);
  const dates = useNextDates({
    kind: 'script',
    id: profile.id,
    body: scriptDatesPatch(draft, profile),
    read: (dated, signal) =>
      client.POST('/script-profiles/{script_profile_id}:preview-dates', { params, body: dated, signal }),
  });
  const parts = { draft, change, error: save.error };
  return (
    <ProfileForm
      verb="Save"
      save={save}
      isDirty={isDirty}
      onDiscard={() => {
        change(initial);
        clear();
      }}
      request={{ method: 'PATCH', path: `/script-profiles/${profile.id}`, body }}
    >
      <TitleField {...parts} />
      <Facts items={[['Script', <bdi key="script">{scriptTitle}</bdi>]]} />
      <RunFields {...parts} />
      <Scope {...parts} accessGroup={profile.access_group} />
      <TriggerFields {...parts} dates={dates} />
    </ProfileForm>
  );
}

function TitleField({ draft, change, error }: PartProps) {
  return (
    <TextField
      label="Title"
      value={draft.title}
      error={fieldError(error, 'body.title')}
      maxLength={255}
      required
      onChange={({ target }) => change({ title: target.value })}
    />
  );
}

function ScriptField({ draft, change, error }: PartProps) {
  const { data: scripts = [] } = useQuery(activeScriptsQuery);
  const options = scripts.map(({ id, title }) => ({ value: String(id), label: title }));
  return (
    <SelectField
      label="Script"
      options={[{ value: '', label: 'Choose a script' }, ...options]}
      value={draft.script}
      error={fieldError(error, 'body.script_id')}
      required
      onChange={({ target }) => change({ script: target.value })}
    />
  );
}

function RunFields({ draft, change, error }: PartProps) {
  return (
    <div className="field-row">
      <TextField
        label="Run as user"
        value={draft.username}
        error={fieldError(error, 'body.username')}
        required
        onChange={({ target }) => change({ username: target.value })}
      />
      <TextField
        label="Time limit (seconds)"
        type="number"
        min={1}
        max={604_800}
        value={draft.timeLimit}
        error={fieldError(error, 'body.time_limit')}
        required
        onChange={({ target }) => change({ timeLimit: target.value })}
      />
    </div>
  );
}

function Scope({ draft, change, error, accessGroup }: PartProps & { accessGroup?: string }) {
  const { data: scripts = [] } = useQuery(activeScriptsQuery);
  const own = scripts.find(({ id }) => String(id) === draft.script)?.access_group;
  return (
    <ScopeFields
      scope={draft}
      accessGroup={accessGroup ?? own ?? 'global'}
      onChange={change}
      error={fieldError(error, 'body.tags') ?? fieldError(error, 'body.all_computers')}
    />
  );
}

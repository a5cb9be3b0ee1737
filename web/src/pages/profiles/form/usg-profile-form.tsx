import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { accessGroupsQuery } from '../../../api/lists.ts';
import { client } from '../../../api/client.ts';
import { useCan } from '../../../session/session.ts';
import { fieldError } from '../../../ui/error-message.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Facts } from '../../../ui/page.tsx';
import { useKept } from '../../../ui/drafts/use-kept.ts';
import { useDraft } from '../../../ui/use-draft.ts';
import { useZone } from '../../../ui/times/use-zone.ts';
import { BENCHMARKS, MODES } from '../profile-rows.ts';
import type { UsgProfile } from '../profile-types.ts';
import { NextDates, type NextDatesState, scheduleError, useNextDates } from './next-dates.tsx';
import { ProfileForm, useSave } from './profile-form.tsx';
import { RecurrenceFields } from './recurrence-fields.tsx';
import { ScopeFields } from './scope-fields.tsx';
import { isAcceptable, TailoringField, type TailoringFieldProps, type TailoringFile } from './tailoring-field.tsx';
import {
  MODE_OPTIONS,
  newUsgProfileDraft,
  TAILORING,
  type UsgProfileDraft,
  usgCommand,
  usgDatesPatch,
  usgDatesRequest,
  usgProfileDraftOf,
  usgPatch,
  usgRequest,
} from './usg-profile-draft.ts';
import { ZoneField } from './zone-field.tsx';

interface PartProps {
  draft: UsgProfileDraft;
  change: (changes: Partial<UsgProfileDraft>) => void;
  error: unknown;
}

type ScheduleProps = PartProps & { dates: NextDatesState; isNew: boolean };

/** Creates a USG profile. */
export function NewUsgProfile() {
  const zone = useZone();
  const [initial] = useState(() => newUsgProfileDraft(zone));
  const { draft, change, clear, isDirty } = useDraft('usg-profile.new', initial);
  const file = useKept<TailoringFile | null>('usg-profile.new', null, isAcceptable);
  const body = usgRequest(draft, file.value?.text ?? null);
  const clearAll = () => {
    clear();
    file.clear();
  };
  const save = useSave('usg', async () => (await client.POST('/usg-profiles', { body })).data, clearAll);
  const dates = useNextDates({
    kind: 'usg',
    body: usgDatesRequest(draft),
    read: (dated, signal) => client.POST('/usg-profiles:preview-dates', { body: dated, signal }),
  });
  const parts = { draft, change, error: save.error };
  return (
    <ProfileForm
      verb="Create"
      save={save}
      isDirty={isDirty}
      onDiscard={() => {
        file.change(null);
        discard(initial, change, clearAll);
      }}
      request={{ method: 'POST', path: '/usg-profiles', body }}
      command={usgCommand(draft)}
    >
      <TitleField {...parts} />
      <RuleFields {...parts} file={file.value} onFile={file.change} />
      <AccessGroupField {...parts} />
      <UsgScope {...parts} />
      <Schedule {...parts} dates={dates} isNew />
      {draft.mode === 'fix-restart-audit' && <RestartFields {...parts} />}
    </ProfileForm>
  );
}

/** Changes a USG profile: what it audits and where stays. */
export function EditUsgProfile({ profile }: { profile: UsgProfile }) {
  const [initial] = useState(() => usgProfileDraftOf(profile));
  const { draft, change, clear, isDirty } = useDraft(`usg-profile.${profile.id}`, initial);
  const body = usgPatch(draft);
  const params = { path: { usg_profile_id: profile.id } };
  const send = async () => (await client.PATCH('/usg-profiles/{usg_profile_id}', { params, body })).data;
  const save = useSave('usg', send, clear);
  const dates = useNextDates({
    kind: 'usg',
    id: profile.id,
    body: usgDatesPatch(draft),
    read: (dated, signal) =>
      client.POST('/usg-profiles/{usg_profile_id}:preview-dates', { params, body: dated, signal }),
  });
  const parts = { draft, change, error: save.error };
  return (
    <ProfileForm
      verb="Save"
      save={save}
      isDirty={isDirty}
      onDiscard={() => discard(initial, change, clear)}
      request={{ method: 'PATCH', path: `/usg-profiles/${profile.id}`, body }}
    >
      <TitleField {...parts} />
      <Facts
        items={[
          ['Does', MODES[profile.mode]],
          ['Benchmark', BENCHMARKS[profile.benchmark] ?? profile.benchmark],
          ['Access group', profile.access_group],
        ]}
      />
      <UsgScope {...parts} />
      <Schedule {...parts} dates={dates} isNew={false} />
      {profile.mode === 'fix-restart-audit' && <RestartFields {...parts} />}
    </ProfileForm>
  );
}

function discard(
  initial: UsgProfileDraft,
  change: (changes: Partial<UsgProfileDraft>) => void,
  clear: () => void,
): void {
  change(initial);
  clear();
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

function RuleFields({ draft, change, error, file, onFile }: PartProps & Omit<TailoringFieldProps, 'error'>) {
  return (
    <>
      <SelectField
        label="What it does"
        options={MODE_OPTIONS}
        value={draft.mode}
        error={fieldError(error, 'body.mode')}
        hint={
          draft.mode === 'audit' ? 'Changes nothing on the computers' : 'Changes the configuration of the computers'
        }
        onChange={({ target }) => change({ mode: target.value as UsgProfileDraft['mode'] })}
      />
      <SelectField
        label="Benchmark"
        options={Object.entries(BENCHMARKS).map(([value, label]) => ({ value, label }))}
        value={draft.benchmark}
        error={fieldError(error, 'body.benchmark')}
        onChange={({ target }) => change({ benchmark: target.value })}
      />
      {draft.benchmark === TAILORING && (
        <TailoringField file={file} onFile={onFile} error={fieldError(error, 'body.tailoring_file')} />
      )}
    </>
  );
}

function AccessGroupField({ draft, change, error }: PartProps) {
  const can = useCan();
  const { data: groups = [] } = useQuery(accessGroupsQuery);
  const allowed = groups.filter(({ name }) => can('ManageUsgProfile', name));
  const options = allowed.map(({ name, title }) => ({ value: name, label: title }));
  return (
    <SelectField
      label="Access group"
      hint="With the groups below it"
      options={options.length > 0 ? options : [{ value: draft.accessGroup, label: draft.accessGroup }]}
      value={draft.accessGroup}
      error={fieldError(error, 'body.access_group')}
      onChange={({ target }) => change({ accessGroup: target.value })}
    />
  );
}

function UsgScope({ draft, change, error }: PartProps) {
  return (
    <ScopeFields
      scope={draft}
      accessGroup={draft.accessGroup}
      onChange={change}
      error={fieldError(error, 'body.tags') ?? fieldError(error, 'body.all_computers')}
    />
  );
}

function Schedule({ draft, change, error: saveError, dates, isNew }: ScheduleProps) {
  const error = scheduleError(dates, saveError);
  return (
    <fieldset className="fieldset">
      <legend>Schedule</legend>
      <ZoneField
        value={draft.timezone}
        error={fieldError(error, 'body.timezone')}
        onChange={(timezone) => change({ timezone })}
      />
      {isNew && (
        <TextField
          label="First run"
          type="datetime-local"
          hint={`In ${draft.timezone}, or at once if that has passed; further runs are at the same time of day`}
          value={draft.start}
          error={fieldError(error, 'body.start_date')}
          required
          onChange={({ target }) => change({ start: target.value })}
        />
      )}
      <RecurrenceFields
        value={draft.recurrence}
        error={fieldError(error, 'body.schedule')}
        onChange={(changes) => change({ recurrence: { ...draft.recurrence, ...changes } })}
      />
      <NextDates {...dates} />
    </fieldset>
  );
}

function RestartFields({ draft, change, error }: PartProps) {
  return (
    <div className="field-row">
      <TextField
        label="Restart after (hours)"
        hint="After the fix"
        type="number"
        min={0}
        max={720}
        required
        value={draft.restartDelay}
        error={fieldError(error, 'body.restart_deliver_delay')}
        onChange={({ target }) => change({ restartDelay: target.value })}
      />
      <TextField
        label="Spread restarts over (minutes)"
        type="number"
        min={0}
        max={1440}
        required
        value={draft.restartWindow}
        error={fieldError(error, 'body.restart_deliver_delay_window')}
        onChange={({ target }) => change({ restartWindow: target.value })}
      />
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useZone } from '../../ui/times/use-zone.ts';
import { bodyError } from '../field-errors.ts';
import { momentOf } from '../plans/delivery.ts';
import { NO_SNAPS, planSnaps, type SnapAction, type SnapFields } from '../plans/software.ts';
import type { Target } from '../targets.ts';
import type { FormDefinition, FieldsProps } from './form.tsx';
import { NameField } from './name-field.tsx';

/** The form of an action on snaps. */
export function snapForm(action: SnapAction): FormDefinition<SnapFields> {
  return {
    initial: NO_SNAPS,
    Fields: (props) => <SnapFieldSet action={action} {...props} />,
    usePlan: function usePlan(input) {
      const until = momentOf(input.fields.until, useZone());
      return planSnaps(action, { ...input, fields: { ...input.fields, until } });
    },
    delivery: 'any',
  };
}

function SnapFieldSet({ action, fields, change, error, targets }: FieldsProps<SnapFields> & { action: SnapAction }) {
  const zone = useZone();
  const installed = useInstalledSnaps(action === 'install' ? undefined : targets[0]);
  return (
    <>
      <NameField
        label="Snaps"
        hint="Names, separated by spaces or commas."
        error={bodyError(error, 'snaps', '.name')}
        value={fields.snaps}
        onChange={(snaps) => change({ snaps })}
        suggestions={installed}
      />
      {(action === 'install' || action === 'refresh') && (
        <VersionFields action={action} fields={fields} change={change} error={error} />
      )}
      {action === 'hold' && (
        <TextField
          label="Hold until"
          type="datetime-local"
          hint={`In ${zone}. Without a time, updates are held until the snaps are released.`}
          error={bodyError(error, 'snaps', '.time')}
          value={fields.until}
          onChange={(event) => change({ until: event.target.value })}
        />
      )}
    </>
  );
}

function VersionFields({
  action,
  fields,
  change,
  error,
}: Omit<FieldsProps<SnapFields>, 'targets'> & { action: SnapAction }) {
  return (
    <>
      <TextField
        label="Channel"
        placeholder="latest/stable"
        hint={action === 'refresh' ? 'Switches the snaps to this channel.' : 'The default of each snap without one.'}
        error={bodyError(error, 'snaps', '.channel')}
        value={fields.channel}
        onChange={(event) => change({ channel: event.target.value })}
      />
      <TextField
        label="Revision"
        hint="Such as 29619; the newest of the channel without one."
        error={bodyError(error, 'snaps', '.revision')}
        value={fields.revision}
        onChange={(event) => change({ revision: event.target.value })}
      />
      {action === 'install' && (
        <CheckField
          label="Classic confinement"
          hint="Only for snaps that need access to the whole system."
          checked={fields.classic}
          onChange={(event) => change({ classic: event.target.checked })}
        />
      )}
    </>
  );
}

/** Names of the snaps of a computer, which the others probably have as well. */
function useInstalledSnaps(target: Target | undefined): string[] {
  const { data } = useQuery({
    queryKey: ['computer', target?.id, 'snap-names'],
    enabled: target !== undefined,
    queryFn: async ({ signal }) => {
      const params = { path: { computer_id: target!.id } };
      return (await client.GET('/computers/{computer_id}/snaps/installed', { params, signal })).data.results;
    },
  });
  return data?.map(({ snap }) => snap.name) ?? [];
}

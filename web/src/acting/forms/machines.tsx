import { useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { CheckField } from '../../ui/field.tsx';
import { bodyError } from '../field-errors.ts';
import {
  type ProcessFields,
  planArchive,
  planDelete,
  planPower,
  planRecoveryKey,
  planSanitize,
  planSignal,
  type RecoveryKeyFields,
} from '../plans/machines.ts';
import type { Plan, PlanInput } from '../plans/plan.ts';
import type { FormDefinition, FieldsProps } from './form.tsx';
import { lastName, NameField } from './name-field.tsx';

/** A form without fields of its own. */
const plainForm = (
  usePlan: (input: PlanInput<object>) => Plan,
  delivery: FormDefinition<object>['delivery'],
): FormDefinition<object> => ({ initial: {}, usePlan, delivery });

/** The forms of restarting and shutting down. */
export const powerForm = (change: 'restart' | 'shutdown') => plainForm((input) => planPower(change, input), 'any');

export const sanitizeForm = plainForm(planSanitize, 'after');
export const archiveForm = plainForm(planArchive, 'none');
export const deleteForm: FormDefinition<object> = { ...plainForm(planDelete, 'none'), withArchived: true };

/** The form of a signal to processes. */
export function signalForm(signal: 'kill' | 'terminate'): FormDefinition<ProcessFields> {
  return {
    initial: { pids: '' },
    Fields: ProcessFieldSet,
    usePlan: (input) => planSignal(signal, input),
    delivery: 'after',
  };
}

export const recoveryKeyForm: FormDefinition<RecoveryKeyFields> = {
  initial: { force: false },
  Fields: ({ fields, change }) => (
    <CheckField
      label="Even while another generation is open"
      checked={fields.force}
      onChange={(event) => change({ force: event.target.checked })}
    />
  ),
  usePlan: planRecoveryKey,
  delivery: 'after',
};

function ProcessFieldSet({ fields, change, error, targets }: FieldsProps<ProcessFields>) {
  const id = targets[0]?.id;
  const { data } = useQuery({
    queryKey: ['computer', id, 'process-names'],
    enabled: id !== undefined,
    queryFn: async ({ signal }) => {
      const params = { path: { computer_id: id! } };
      return (await client.GET('/computers/{computer_id}/processes', { params, signal })).data.results;
    },
  });
  const names = new Map(data?.map(({ pid, name }) => [String(pid), name]));
  const chosen = fields.pids.split(/[\s,]+/).filter((pid) => pid !== '');
  return (
    <>
      <NameField
        label="Process ids"
        hint="Numbers, separated by spaces or commas."
        error={bodyError(error, 'pids')}
        value={fields.pids}
        onChange={(pids) => change({ pids })}
        suggestions={lastName(fields.pids) === '' ? [] : [...names.keys()]}
      />
      {chosen.length > 0 && data && (
        <ul className="acting-names" aria-label="Processes">
          {chosen.map((pid) => (
            <li key={pid}>
              {pid}: <bdi>{names.get(pid) ?? 'not among the processes that the computer last reported'}</bdi>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { client } from '../../api/client.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { bodyError } from '../field-errors.ts';
import { planScript, type ScriptFields } from '../plans/software.ts';
import { queriesFor } from '../targets.ts';
import type { FormDefinition, FieldsProps } from './form.tsx';

/** The form that runs a script. */
export const scriptForm: FormDefinition<ScriptFields> = {
  initial: { script: '', username: '', timeLimit: '' },
  Fields: ScriptFieldSet,
  usePlan(input) {
    const { targets } = input;
    const queries = useMemo(() => queriesFor(targets.map(({ id }) => id)), [targets]);
    return planScript(queries, input);
  },
  delivery: 'any',
};

function ScriptFieldSet({ fields, change, error }: FieldsProps<ScriptFields>) {
  const { data } = useQuery({
    queryKey: ['scripts', 'executable'],
    queryFn: async ({ signal }) => (await client.GET('/scripts', { signal })).data.results,
  });
  const scripts = data?.filter((script) => script.is_executable) ?? [];
  const chosen = scripts.find(({ id }) => String(id) === fields.script);
  return (
    <>
      <SelectField
        label="Script"
        required
        options={[
          { value: '', label: data && scripts.length === 0 ? 'There are no scripts' : 'Choose a script' },
          ...scripts.map(({ id, title }) => ({ value: String(id), label: title })),
        ]}
        value={fields.script}
        onChange={(event) => change({ script: event.target.value })}
      />
      <TextField
        label="User"
        placeholder={chosen?.username ?? 'root'}
        hint="Whose rights it has on the computer; otherwise the user of the script."
        error={bodyError(error, 'username')}
        value={fields.username}
        onChange={(event) => change({ username: event.target.value })}
      />
      <TextField
        label="Time limit in seconds"
        inputMode="numeric"
        placeholder={String(chosen?.time_limit ?? 300)}
        hint="After it the script is killed; otherwise the limit of the script."
        error={bodyError(error, 'time_limit')}
        value={fields.timeLimit}
        onChange={(event) => change({ timeLimit: event.target.value })}
      />
    </>
  );
}

import { useQueries } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { errorText } from '../../ui/error-message.tsx';
import { CheckField, SelectField } from '../../ui/field.tsx';
import { bodyError } from '../field-errors.ts';
import { chooseKernel, type KernelFields, planKernel } from '../plans/software.ts';
import type { Mark } from '../target-list.tsx';
import type { Target } from '../targets.ts';
import type { FormDefinition, FieldsProps, PlanState } from './form.tsx';

/** Each is a request. */
const MAX_TARGETS = 1000;

/** The form of a change of kernels. */
export function kernelForm(change: 'upgrade' | 'downgrade'): FormDefinition<KernelFields> {
  return {
    initial: { version: '', restart: false },
    Fields: (props) => <KernelFieldSet kind={change} {...props} />,
    usePlan(input): PlanState {
      const { offers, isPending, error } = useOffers(change, input.targets);
      const unfit: Mark = {
        label: `No ${change}`,
        applies: ({ id }) => !isPending && !chooseKernel(offers.get(id) ?? [], input.fields.version),
        text: `offered no such ${change}.`,
      };
      const problem = error ? errorText(error) : problemOf(change, input.targets, unfit);
      return { ...planKernel(change, offers, input), isPending, problem, unfit };
    },
    delivery: 'any',
  };
}

function KernelFieldSet({
  kind,
  fields,
  change,
  error,
  targets,
}: FieldsProps<KernelFields> & { kind: 'upgrade' | 'downgrade' }) {
  const { offers } = useOffers(kind, targets);
  const versions = [...new Set([...offers.values()].flatMap((kernels) => kernels.map(({ version }) => version)))];
  const newest = { value: '', label: 'The newest that each computer is offered' };
  return (
    <>
      <SelectField
        label="Version"
        options={[newest, ...versions.map((version) => ({ value: version, label: version }))]}
        error={bodyError(error, 'kernel_package_id')}
        value={fields.version}
        onChange={(event) => change({ version: event.target.value })}
      />
      <CheckField
        label="Restart afterwards"
        hint="Once the change has succeeded. Until a restart the computer runs its present kernel."
        checked={fields.restart}
        onChange={(event) => change({ restart: event.target.checked })}
      />
    </>
  );
}

function problemOf(kind: 'upgrade' | 'downgrade', targets: readonly Target[], unfit: Mark): string | null {
  if (targets.length > MAX_TARGETS)
    return `Choose at most ${MAX_TARGETS} computers: the kernels of each are read first.`;
  if (!targets.some(unfit.applies)) return null;
  return `Not every computer is offered this ${kind}: leave it out, or choose another version.`;
}

/** The kernels that each computer is offered. */
function useOffers(kind: 'upgrade' | 'downgrade', targets: readonly Target[]) {
  return useQueries({
    queries: targets.map(({ id }) => ({
      enabled: targets.length <= MAX_TARGETS,
      queryKey: ['computer', id, 'kernel'],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (
          await client.GET('/computers/{computer_id}/hotpatch/kernel', {
            params: { path: { computer_id: id } },
            signal,
          })
        ).data,
    })),
    combine: (results) => ({
      offers: new Map(results.map(({ data }, index) => [targets[index]!.id, data?.[`${kind}s`] ?? []])),
      isPending: results.some((result) => result.isPending),
      error: results.find((result) => result.error)?.error ?? null,
    }),
  });
}

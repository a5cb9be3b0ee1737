import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { errorText } from '../../ui/error-message.tsx';
import { bodyError } from '../field-errors.ts';
import { namesIn } from '../plans/plan.ts';
import { type PackageAction, type PackageFields, planPackages } from '../plans/software.ts';
import { queriesFor, type Target } from '../targets.ts';
import type { FormDefinition, FieldsProps, PlanState } from './form.tsx';
import { lastName, NameField } from './name-field.tsx';

/** Which packages fit an action, as parameters of the list. */
const FITTING: Record<PackageAction, object> = {
  install: { available: true, installed: false },
  remove: { installed: true },
  upgrade: { upgrade: true },
  downgrade: { installed: true },
  hold: { installed: true, held: false },
  unhold: { held: true },
};
const SUGGESTED = 20;

/** The form of an action on packages. */
export function packageForm(action: PackageAction): FormDefinition<PackageFields> {
  return {
    initial: { packages: '' },
    Fields: (props) => <PackageFieldSet action={action} {...props} />,
    usePlan(input): PlanState {
      const names = namesIn(input.fields.packages);
      const { ids, isPending, problem } = usePackageIds(names);
      return { ...planPackages(action, ids, input), isPending, problem };
    },
    delivery: 'any',
  };
}

function PackageFieldSet({
  action,
  fields,
  change,
  error,
  targets,
}: FieldsProps<PackageFields> & { action: PackageAction }) {
  const suggestions = usePackageNames(action, lastName(fields.packages), targets);
  return (
    <NameField
      label="Packages"
      hint={
        action === 'install' || action === 'upgrade'
          ? 'Names, separated by spaces or commas. Each computer gets the newest version on offer.'
          : 'Names, separated by spaces or commas.'
      }
      error={bodyError(error, 'package_ids')}
      value={fields.packages}
      onChange={(packages) => change({ packages })}
      suggestions={suggestions}
    />
  );
}

/** Names that fit what is being typed, on the first of the computers. */
function usePackageNames(action: PackageAction, text: string, targets: readonly Target[]): string[] {
  const [query = ''] = queriesFor(targets.map(({ id }) => id));
  const { data } = useQuery({
    queryKey: ['package-names', action, text, query],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const params = { query: { ...FITTING[action], query, search: text, limit: SUGGESTED } };
      return (await client.GET('/packages', { params, signal })).data.results;
    },
  });
  return data?.map(({ name }) => name) ?? [];
}

/** The ids of packages by their names, and which of the names no computer has reported. */
function usePackageIds(names: readonly string[]) {
  const { data, error } = useQuery({
    queryKey: ['package-ids', names],
    enabled: names.length > 0,
    queryFn: async ({ signal }) => {
      const params = { query: { names: [...names] } };
      return (await client.GET('/packages', { params, signal })).data.results;
    },
  });
  const ids = new Map(data?.map(({ name, id }) => [name, id]));
  const unknown = data ? names.filter((name) => !ids.has(name)) : [];
  return {
    ids,
    isPending: names.length > 0 && !data && !error,
    problem: error
      ? errorText(error)
      : unknown.length > 0
        ? `No computer has reported a package with the name ${unknown.join(', ')}.`
        : null,
  };
}

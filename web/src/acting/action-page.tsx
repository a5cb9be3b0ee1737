import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { client } from '../api/client.ts';
import { usePageSearch } from '../url/use-page-search.ts';
import { ErrorMessage } from '../ui/error-message.tsx';
import { EmptyState, PageLayout, Skeleton } from '../ui/page.tsx';
import { type Action, findAction } from './actions.ts';
import { ChooseComputers } from './choose-computers.tsx';
import { FORMS, type RegisteredForm } from './forms/index.tsx';
import { readTargets, type Target, type Targets, targetsOf } from './targets.ts';
import './acting.css';

/** The form of an action on the computers that the URL names. */
export function Page() {
  const { action: id } = useParams({ strict: false });
  const { search } = usePageSearch();
  const action = findAction(id ?? '');
  const form = FORMS.get(id ?? '');
  const targets = targetsOf(search);
  if (!action || !form) {
    return (
      <PageLayout title="Unknown action">
        <EmptyState title="There is no such action">{chooseHint}</EmptyState>
      </PageLayout>
    );
  }
  return (
    <PageLayout title={action.label}>
      {targets ? (
        <Acting key={JSON.stringify([id, search])} action={action} form={form} source={targets} search={search} />
      ) : (
        <ChooseComputers />
      )}
    </PageLayout>
  );
}

const chooseHint = (
  <p>
    Choose <Link to="/computers">computers</Link>, then an action of the menu Actions.
  </p>
);

interface ActingProps {
  action: Action;
  form: RegisteredForm;
  source: Targets;
  search: Readonly<Record<string, unknown>>;
}

function Acting({ action, form, source, search }: ActingProps) {
  const { withAnnotations, withArchived, Component } = form;
  const { data, error } = useQuery({
    queryKey: ['acting', 'targets', source, withAnnotations, withArchived],
    queryFn: ({ signal }) => readTargets(client, { targets: source, withAnnotations, withArchived }, signal),
    // The action goes to the computers that were counted: they stay the same while the form is open.
    staleTime: 'static',
    gcTime: 0,
  });
  if (error) return <ErrorMessage error={error} />;
  if (!data) return <Skeleton lines={6} />;
  if (data.length === 0) {
    return <EmptyState title="There are no such computers">They may have been archived or deleted.</EmptyState>;
  }
  if (data.length > 1 && !action.takesMany) {
    return <EmptyState title="This is for one computer at a time">{chooseHint}</EmptyState>;
  }
  return (
    <>
      <Missing source={source} found={data} />
      <Component action={action} source={source} found={data} search={search} />
    </>
  );
}

/** States how many of the chosen computers are not there any more. */
function Missing({ source, found }: { source: Targets; found: readonly Target[] }) {
  const missing = 'ids' in source ? source.ids.length - found.length : 0;
  if (missing === 0) return null;
  return (
    <p role="status" className="acting-note">
      {missing === 1 ? '1 of the chosen computers is' : `${missing} of the chosen computers are`} not there: archived,
      deleted, or outside your access groups.
    </p>
  );
}

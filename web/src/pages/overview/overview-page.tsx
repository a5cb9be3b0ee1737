import { useQuery } from '@tanstack/react-query';
import { permissionsQuery, useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { EmptyState, PageLayout, Skeleton } from '../../ui/page.tsx';
import { ApprovalLines, RunningLines } from './activity-lines.tsx';
import { AlertLines } from './alert-lines.tsx';
import { Compliance } from './compliance.tsx';
import { ComputerCounts } from './computer-counts.tsx';
import { pendingQuery } from './pending.ts';
import { PendingLines } from './pending-lines.tsx';
import { FailingScriptProfiles, FailingUsgProfiles } from './profile-lines.tsx';
import { useCount } from './use-count.ts';
import { Welcome } from './welcome.tsx';
import './overview.css';

/** The state of the fleet: computers by state, what needs attention, and what is going on. */
export function Page() {
  const { data: permissions } = useQuery(permissionsQuery);
  return <PageLayout title="Overview">{permissions ? <Overview /> : <Skeleton lines={12} />}</PageLayout>;
}

function Overview() {
  const can = useCan();
  const [mayView, mayAccept] = [can('ViewComputer'), can('ManagePendingComputer')];
  const { data: all, error } = useCount('', mayView);
  const { data: pending } = useQuery({ ...pendingQuery, enabled: mayAccept });
  if (!mayView && !mayAccept) {
    return (
      <EmptyState title="You have no access to computers">
        None of your roles lets you view any. An administrator who manages roles can change that.
      </EmptyState>
    );
  }
  if (all === 0 && (!mayAccept || pending?.count === 0)) return <Welcome />;
  return (
    <>
      <ErrorMessage error={error} />
      {mayView && <ComputerCounts />}
      <div className="overview-columns">
        <div className="overview-column">
          {mayAccept && <PendingLines />}
          {mayView && <ApprovalLines />}
          {mayView && <AlertLines />}
          <FailingUsgProfiles />
          <FailingScriptProfiles />
        </div>
        <div className="overview-column">
          {mayView && <RunningLines />}
          {can('ViewUsgProfile') && <Compliance />}
        </div>
      </div>
    </>
  );
}

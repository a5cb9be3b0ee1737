import type { components } from '@flotilla/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ActivityState } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { AllActivities, LineList } from './line-list.tsx';

type Activity = components['schemas']['ParentActivity'];

const SHOWN = 8;
const TO_APPROVE = 'status:unapproved';
const RUNNING = 'status:in-progress OR status:queued';

function useActivities(query: string) {
  return useQuery({
    queryKey: ['activities', 'latest', query],
    queryFn: async ({ signal }) =>
      (await client.GET('/activities/parents', { params: { query: { query, limit: SHOWN } }, signal })).data,
  });
}

/** Activities that wait until somebody approves them. */
export function ApprovalLines() {
  const mayApprove = useCan()('ManageComputer');
  const { data, error } = useActivities(TO_APPROVE);
  const [approving, setApproving] = useState<Activity | null>(null);
  return (
    <>
      <LineList
        title="Activities to approve"
        items={data?.results}
        count={data?.count}
        error={error}
        actions={<AllActivities status="unapproved">All of them</AllActivities>}
      >
        {(activity) => (
          <>
            <ActivityLink activity={activity} />
            <span className="quiet line-side">
              <bdi>{activity.creator?.name}</bdi> <Time value={activity.creation_time} format="relative" />
            </span>
            {mayApprove && (
              <Button kind="quiet" aria-label={`Approve: ${activity.summary}`} onClick={() => setApproving(activity)}>
                Approve
              </Button>
            )}
          </>
        )}
      </LineList>
      <ApproveDialog activity={approving} onClose={() => setApproving(null)} />
    </>
  );
}

function ApproveDialog({ activity, onClose }: { activity: Activity | null; onClose: () => void }) {
  const queryClient = useQueryClient();
  const body = { activity_ids: activity ? [activity.id] : [] };
  const approve = async () => {
    await client.POST('/activities/approve', { body });
    await queryClient.invalidateQueries({ queryKey: ['activities'] });
  };
  const computers =
    activity?.computer_count === 1 ? 'one computer' : `${activity?.computer_count.toLocaleString()} computers`;
  return (
    <ConfirmDialog
      title="Approve the activity"
      verb="Approve"
      open={activity !== null}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={approve}
    >
      <p>
        “<bdi>{activity?.summary}</bdi>” goes to {computers} as soon as it is approved and due.
      </p>
      <CopyAs
        request={{ method: 'POST', path: '/activities/approve', body }}
        command={['activities', 'approve', String(activity?.id)]}
      />
    </ConfirmDialog>
  );
}

/** What computers are doing now, with how far it is. */
export function RunningLines() {
  const { data, error } = useActivities(RUNNING);
  return (
    <LineList
      title="In progress"
      items={data?.results}
      count={data?.count}
      error={error}
      empty="No computer is working on anything."
      actions={<AllActivities>All activities</AllActivities>}
    >
      {(activity) => (
        <>
          <ActivityState status={activity.activity_status} hideText />
          <ActivityLink activity={activity} />
          <Time value={activity.creation_time} format="relative" />
          <ActivityProgress activity={activity} />
        </>
      )}
    </LineList>
  );
}

function ActivityProgress({ activity: { children_statuses, children_count, summary } }: { activity: Activity }) {
  const { good, bad } = children_statuses;
  const total = Math.max(children_count, 1);
  return (
    <span className="line-progress">
      <progress value={good + bad} max={total} aria-label={`Progress: ${summary}`} />
      <span className="line-number">
        {(good + bad).toLocaleString()} of {total.toLocaleString()}
        {bad > 0 && <span className="tone-bad"> ({bad.toLocaleString()} failed or canceled)</span>}
      </span>
    </span>
  );
}

function ActivityLink({ activity: { id, summary } }: { activity: Activity }) {
  return (
    <Link to="/activities/$activityId" params={{ activityId: String(id) }} className="line-text" title={summary}>
      <bdi>{summary}</bdi>
    </Link>
  );
}

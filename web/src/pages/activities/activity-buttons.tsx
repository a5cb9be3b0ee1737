import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { serverQuery } from './activity-queries.ts';
import { consequence, type Progressing } from './consequence.ts';

const VERBS = [
  { verb: 'approve', label: 'Approve', allowed: 'approvable' },
  { verb: 'cancel', label: 'Cancel', allowed: 'cancelable' },
  { verb: 'revert', label: 'Revert', allowed: 'revertable' },
  { verb: 'reapply', label: 'Reapply', allowed: 'reappliable' },
] as const;
type Action = (typeof VERBS)[number];

/** The actions that an activity allows the person now, and the way to its workflow in the Temporal UI. */
export function ActivityButtons({ activity, group, counts }: Progressing) {
  const [action, setAction] = useState<Action>(VERBS[0]);
  const [isOpen, setOpen] = useState(false);
  const { data: server } = useQuery(serverQuery);
  const workflow = `activity/${activity.parent_id ?? activity.id}`;
  return (
    <>
      {server?.temporal_ui_url && (
        <a
          className="button button-plain"
          href={`${server.temporal_ui_url}/${encodeURIComponent(workflow)}`}
          target="_blank"
          rel="noreferrer"
        >
          Workflow in the Temporal UI
        </a>
      )}
      {VERBS.filter(({ allowed }) => activity.actions[allowed]).map((choice) => (
        <Button
          key={choice.verb}
          onClick={() => {
            setAction(choice);
            setOpen(true);
          }}
        >
          {choice.label}
        </Button>
      ))}
      <ActionDialog
        activity={activity}
        group={group}
        counts={counts}
        action={action}
        open={isOpen}
        onOpenChange={setOpen}
      />
    </>
  );
}

interface ActionDialogProps extends Progressing {
  action: Action;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

function ActionDialog({ activity, group, counts, action: { verb, label }, open, onOpenChange }: ActionDialogProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const activity_ids = [activity.id];
  const act = async () => {
    const { data } = await client.POST(`/activities/${verb}`, { body: { activity_ids } });
    await queryClient.invalidateQueries({ queryKey: ['activity', activity.id] });
    const [created] = data;
    // Reverts and repetitions are activities of their own.
    if (created !== undefined && created !== activity.id) {
      await navigate({ to: '/activities/$activityId', params: { activityId: String(created) } });
    }
  };
  return (
    <ConfirmDialog
      title={`${label} “${activity.summary}”?`}
      verb={label}
      danger={verb === 'cancel'}
      open={open}
      onOpenChange={onOpenChange}
      onConfirm={act}
    >
      <p>{consequence(verb, { activity, group, counts })}</p>
      <CopyAs
        request={{ method: 'POST', path: `/activities/${verb}`, body: { activity_ids } }}
        command={['activities', verb, String(activity.id)]}
      />
    </ConfirmDialog>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import type { Alert } from './alert-kinds.ts';
import { alertsQuery } from './alerts-query.ts';

/** Hides an alert from the person until it is raised again; closed while there is none. */
export function DismissDialog({ alert, onClose }: { alert: Alert | null; onClose: () => void }) {
  const queryClient = useQueryClient();
  const dismiss = async () => {
    await client.POST('/alerts/{alert_id}/dismiss', { params: { path: { alert_id: alert!.id } } });
    await queryClient.invalidateQueries({ queryKey: alertsQuery.queryKey });
  };
  return (
    <ConfirmDialog
      title="Dismiss the alert"
      verb="Dismiss"
      open={alert !== null}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={dismiss}
    >
      {alert && (
        <>
          <p>
            “{alert.label}” is hidden from you until it is raised for another {alert.scope}, or again for the same one.
            It stays visible to other administrators.
          </p>
          <CopyAs
            request={{ method: 'POST', path: `/alerts/${alert.id}/dismiss` }}
            command={['alerts', 'dismiss', String(alert.id)]}
          />
        </>
      )}
    </ConfirmDialog>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ComputerName } from './computer-name.tsx';
import type { PendingComputer } from './pending.ts';

/** Rejects computers that wait to be accepted. */
export function RejectDialog({ computers, onClose }: { computers: readonly PendingComputer[]; onClose: () => void }) {
  const queryClient = useQueryClient();
  const body = { computer_ids: computers.map(({ id }) => id) };
  const reject = async () => {
    await client.POST('/pending-computers:reject', { body });
    await queryClient.invalidateQueries({ queryKey: ['pending-computers'] });
  };
  const isSingle = computers.length === 1;
  return (
    <ConfirmDialog
      title={isSingle ? 'Reject the computer' : `Reject ${computers.length.toLocaleString()} computers`}
      verb="Reject"
      danger
      open
      onOpenChange={onClose}
      onConfirm={reject}
    >
      <p>
        {isSingle ? <ComputerName computer={computers[0]!} /> : 'The computers'} {isSingle ? 'is' : 'are'} removed from
        this list, and can register again.
      </p>
      <CopyAs
        request={{ method: 'POST', path: '/pending-computers:reject', body }}
        command={['pending-computers', 'reject', ...body.computer_ids.map(String)]}
      />
    </ConfirmDialog>
  );
}

import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorMessage } from '../error-message.tsx';

interface ConfirmDialogProps {
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The verb of the action, which is the name of its button. */
  verb: string;
  danger?: boolean;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** Does it; an error is shown in the dialog, which otherwise closes. */
  onConfirm: () => Promise<unknown>;
}

/** Asks once more before something is done, and does it. */
export function ConfirmDialog({ title, children, verb, danger, open, onOpenChange, onConfirm }: ConfirmDialogProps) {
  const action = useMutation({ mutationFn: onConfirm, onSuccess: () => onOpenChange(false) });
  return (
    <Dialog title={title} open={open} onOpenChange={onOpenChange}>
      <div>{children}</div>
      <ErrorMessage error={action.error} />
      <div className="button-row">
        <Button kind={danger ? 'danger' : 'primary'} busy={action.isPending} onClick={() => action.mutate()}>
          {verb}
        </Button>
        <Button onClick={() => onOpenChange(false)} data-initial-focus={danger || undefined}>
          Keep it as it is
        </Button>
      </div>
    </Dialog>
  );
}

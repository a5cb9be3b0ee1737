import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyAs } from './copy-as.tsx';
import { ErrorMessage, fieldError } from './error-message.tsx';
import type { RequestToCopy } from './shell-text.ts';

interface ActionFormProps {
  /** The verb of the action, which is the name of its button. */
  verb: string;
  danger?: boolean;
  send: () => Promise<unknown>;
  /** What is sent, without secrets, to be copied. */
  request: RequestToCopy;
  /** Arguments of a `flotilla` command that does the same. */
  command?: readonly string[];
  /** Keys of what is read again afterwards. */
  changes?: readonly QueryKey[];
  onDone?: () => void;
  /** For forms that can be left. */
  onCancel?: () => void;
  /** Shown after it was done, by forms that stay. */
  done?: string;
  /** The fields. The function returns the message of the server about a field of the request's body. */
  children: (errorOf: (field: string) => string | null) => ReactNode;
}

/** The fields of an action, the server's messages about them, and its button. Nothing of it stays in memory once it was sent. */
export function ActionForm(props: ActionFormProps) {
  const { send, changes = [], onDone, children } = props;
  const queryClient = useQueryClient();
  const action = useMutation({
    async mutationFn() {
      await send();
      await Promise.all(changes.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
    },
    onSuccess: onDone,
    gcTime: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!action.isPending) action.mutate();
  };
  const named: string[] = [];
  const errorOf = (field: string) => {
    named.push(field);
    return fieldError(action.error, field);
  };
  const fields = children(errorOf);
  return (
    <form className="form" onSubmit={submit}>
      {fields}
      <ErrorMessage error={action.error} fields={named} />
      <FormButtons {...props} isPending={action.isPending} isDone={action.isSuccess} />
    </form>
  );
}

type FormButtonsProps = ActionFormProps & { isPending: boolean; isDone: boolean };

function FormButtons({ verb, danger, request, command, onCancel, done, isPending, isDone }: FormButtonsProps) {
  return (
    <div className="button-row">
      <Button kind={danger ? 'danger' : 'primary'} type="submit" busy={isPending}>
        {verb}
      </Button>
      {onCancel && (
        // Enter, pressed once too often, must not do what cannot be undone.
        <Button onClick={onCancel} data-initial-focus={danger || undefined}>
          Cancel
        </Button>
      )}
      <CopyAs request={request} command={command} />
      {done !== undefined && (
        <span role="status" className="quiet">
          {isDone && done}
        </span>
      )}
    </div>
  );
}

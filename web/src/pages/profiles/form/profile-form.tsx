import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { CopyAs } from '../../../ui/copy-as.tsx';
import { ErrorMessage } from '../../../ui/error-message.tsx';
import type { RequestToCopy } from '../../../ui/shell-text.ts';
import type { ProfileKind } from '../profile-types.ts';

/** Sends the form of a profile, and opens the profile when it is stored. */
export function useSave(kind: ProfileKind, send: () => Promise<{ id: number }>, onSaved: () => void) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: send,
    async onSuccess({ id }) {
      onSaved();
      void queryClient.invalidateQueries({ queryKey: ['profiles'] });
      void queryClient.invalidateQueries({ queryKey: ['profile', kind, id] });
      await navigate({ to: '/profiles/$kind/$profileId', params: { kind, profileId: String(id) } });
    },
  });
}

interface ProfileFormProps {
  /** The name of the button that sends it. */
  verb: string;
  save: { mutate: () => void; isPending: boolean; error: unknown };
  isDirty: boolean;
  onDiscard: () => void;
  request: RequestToCopy;
  command?: readonly string[];
  children: ReactNode;
}

/** A form with its button, its errors and what it does as a command. */
export function ProfileForm({ verb, save, isDirty, onDiscard, request, command, children }: ProfileFormProps) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate();
      }}
    >
      {children}
      <ErrorMessage error={save.error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={save.isPending}>
          {verb}
        </Button>
        {isDirty && <Button onClick={onDiscard}>Discard changes</Button>}
        <CopyAs request={request} command={command} />
      </div>
    </form>
  );
}

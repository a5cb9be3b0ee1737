import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { client } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { ErrorMessage, fieldError } from '../ui/error-message.tsx';
import { TextField } from '../ui/field.tsx';
import { useDraft } from '../ui/use-draft.ts';
import { signIn } from './session.ts';

/** Creates the account of a new server with its first administrator, and signs them in. */
export function FirstAccountForm({ onCreated }: { onCreated: () => void }) {
  const { draft, change, clear } = useDraft('first-account', { name: '', email: '' });
  const [secrets, setSecrets] = useState({ password: '', setup_token: '' });
  const fields = { ...draft, ...secrets };
  const creation = useMutation({
    async mutationFn() {
      const { setup_token, ...body } = fields;
      await client.POST('/standalone-account', { body: { ...body, ...(setup_token !== '' && { setup_token }) } });
      await signIn({ name: fields.email, byIdentity: false, password: fields.password });
    },
    onSuccess() {
      clear();
      onCreated();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!creation.isPending) creation.mutate();
  };
  const field = (name: keyof typeof fields) => ({
    value: fields[name],
    error: fieldError(creation.error, name),
    onChange: ({ target: { value } }: { target: { value: string } }) =>
      name in secrets ? setSecrets({ ...secrets, [name]: value }) : change({ [name]: value }),
  });
  return (
    <form className="form" onSubmit={submit}>
      <TextField label="Name" autoComplete="name" required {...field('name')} />
      <TextField label="Email" type="email" autoComplete="username" required {...field('email')} />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        required
        hint="At least 12 characters; common passwords are rejected."
        {...field('password')}
      />
      <TextField
        label="Setup token"
        autoComplete="off"
        hint="Only when the server listens beyond its own machine: its log shows the token at the first start."
        {...field('setup_token')}
      />
      <ErrorMessage error={creation.error} />
      <div className="button-row">
        <Button kind="primary" type="submit" busy={creation.isPending}>
          Create account
        </Button>
      </div>
    </form>
  );
}

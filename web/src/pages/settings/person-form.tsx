import { client } from '../../api/client.ts';
import { type Person, useMe } from '../../session/session.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { BROWSER_ZONE, timeZones } from '../../ui/times/zone.ts';
import { changedFields } from './changed-fields.ts';

const ZONES = 'time-zones';

/** Changes the person's name, address, time zone and first account. */
export function PersonForm({ person }: { person: Person }) {
  const { name, email, timezone, preferred_account } = person;
  const saved = { name, email, timezone, preferred_account };
  const me = useMe();
  const { draft, change, clear } = useDraft(`settings.person.${email}`, saved);
  const body = changedFields(draft, saved);
  const field = (key: 'name' | 'email' | 'timezone', errorOf: (field: string) => string | null) => ({
    required: true,
    value: draft[key],
    error: errorOf(key),
    onChange: (event: { target: { value: string } }) => change({ [key]: event.target.value }),
  });
  const accounts = me?.accounts.map(({ name: value, title: label }) => ({ value, label })) ?? [];
  return (
    <ActionForm
      verb="Save"
      done="Saved"
      send={() => client.POST('/person', { body })}
      request={{ method: 'POST', path: '/person', body }}
      changes={[['me'], ['people']]}
      onDone={() => {
        // The new address is not the person's before it is confirmed.
        change({ email });
        clear();
      }}
    >
      {(errorOf) => (
        <>
          <TextField label="Name" autoComplete="name" {...field('name', errorOf)} />
          <TextField
            label="Email"
            type="email"
            autoComplete="email"
            hint="A new address has to be confirmed. Until then you sign in with the present one."
            {...field('email', errorOf)}
          />
          <TextField
            label="Time zone"
            list={ZONES}
            autoComplete="off"
            hint={`The page shows times in it; with UTC, in the zone of the browser (${BROWSER_ZONE}). Choose Etc/UTC to see times in UTC.`}
            {...field('timezone', errorOf)}
          />
          <datalist id={ZONES}>
            {timeZones(BROWSER_ZONE).map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          {accounts.length > 1 && (
            <SelectField
              label="Account after signing in"
              options={[{ value: '', label: 'None in particular' }, ...accounts]}
              error={errorOf('preferred_account')}
              value={draft.preferred_account ?? ''}
              onChange={(event) => change({ preferred_account: event.target.value || null })}
            />
          )}
        </>
      )}
    </ActionForm>
  );
}

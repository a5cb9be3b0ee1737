import type { components } from '@flotilla/client';
import { client } from '../../api/client.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { CheckField, TextField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { changedFields } from './changed-fields.ts';
import type { Preferences } from './queries.ts';

type Edit = components['schemas']['PreferencesEdit'];
type ErrorOf = (field: string) => string | null;

/** The fields as they are typed. */
interface Draft {
  title: string;
  keeps_forever: boolean;
  retention_days: string;
  sets_intervals: boolean;
  ping: string;
  urgent_exchange: string;
  exchange: string;
}

const FOREVER = -1;
const DEFAULT_DAYS = '365';
/** What agents have without the server's intervals. */
const DEFAULT_INTERVALS = { ping: 30, urgent_exchange: 60, exchange: 900 };
const INTERVALS = [
  { key: 'ping', label: 'Between two pings' },
  { key: 'urgent_exchange', label: 'Exchange while messages wait' },
  { key: 'exchange', label: 'Regular exchange' },
] as const;

/** Changes the account's name, how long results are kept, and how often computers contact the server. */
export function PreferencesForm({ preferences }: { preferences: Preferences }) {
  const { draft, change, clear } = useDraft('settings.preferences', draftOf(preferences));
  const body = changedFields(editOf(draft), editOf(draftOf(preferences)));
  return (
    <ActionForm
      verb="Save"
      done="Saved"
      send={() => client.PATCH('/preferences', { body })}
      request={{ method: 'PATCH', path: '/preferences', body }}
      changes={[['preferences'], ['me']]}
      onDone={clear}
    >
      {(errorOf) => (
        <>
          <TextField
            label="Name of the account"
            required
            autoComplete="organization"
            error={errorOf('title')}
            value={draft.title}
            onChange={(event) => change({ title: event.target.value })}
          />
          <CheckField
            label="Keep results of USG profiles forever"
            checked={draft.keeps_forever}
            onChange={(event) => change({ keeps_forever: event.target.checked })}
          />
          {!draft.keeps_forever && (
            <TextField
              label="Days after which results of USG profiles are deleted"
              type="number"
              min={1}
              max={36_500}
              required
              error={errorOf('audit_retention_period')}
              value={draft.retention_days}
              onChange={(event) => change({ retention_days: event.target.value })}
            />
          )}
          <IntervalFields draft={draft} change={change} errorOf={errorOf} />
        </>
      )}
    </ActionForm>
  );
}

interface IntervalFieldsProps {
  draft: Draft;
  change: (changes: Partial<Draft>) => void;
  errorOf: ErrorOf;
}

function IntervalFields({ draft, change, errorOf }: IntervalFieldsProps) {
  return (
    <>
      <CheckField
        label="Set how often computers contact the server"
        hint="Otherwise each computer keeps the intervals that it has. Short intervals make actions start sooner, and cost the server more."
        checked={draft.sets_intervals}
        onChange={(event) => change({ sets_intervals: event.target.checked })}
      />
      {draft.sets_intervals && (
        <div className="settings-three">
          {INTERVALS.map(({ key, label }) => (
            <TextField
              key={key}
              label={label}
              type="number"
              min={10}
              max={86_400}
              required
              hint="seconds"
              error={errorOf(`agent_intervals.${key}`)}
              value={draft[key]}
              onChange={(event) => change({ [key]: event.target.value })}
            />
          ))}
        </div>
      )}
    </>
  );
}

function draftOf({ title, audit_retention_period: days, agent_intervals }: Preferences): Draft {
  const { ping, urgent_exchange, exchange } = agent_intervals ?? DEFAULT_INTERVALS;
  return {
    title,
    keeps_forever: days === FOREVER,
    retention_days: days === FOREVER ? DEFAULT_DAYS : String(days),
    sets_intervals: agent_intervals !== null,
    ping: String(ping),
    urgent_exchange: String(urgent_exchange),
    exchange: String(exchange),
  };
}

function editOf({
  title,
  keeps_forever,
  retention_days,
  sets_intervals,
  ping,
  urgent_exchange,
  exchange,
}: Draft): Edit {
  return {
    title,
    audit_retention_period: keeps_forever ? FOREVER : Number(retention_days),
    agent_intervals: sets_intervals
      ? { ping: Number(ping), urgent_exchange: Number(urgent_exchange), exchange: Number(exchange) }
      : null,
  };
}

import { fieldError } from '../../../ui/error-message.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { CRON_WEEKDAYS, type Recurring, toCron } from '../cron.ts';
import { NextDates, type NextDatesState, scheduleError } from './next-dates.tsx';
import type { ScriptProfileDraft } from './script-profile-draft.ts';
import { Toggles } from './toggles.tsx';
import { ZoneField } from './zone-field.tsx';

interface TriggerFieldsProps {
  draft: ScriptProfileDraft;
  change: (changes: Partial<ScriptProfileDraft>) => void;
  error: unknown;
  dates: NextDatesState;
}

interface RecurringFieldsProps {
  value: Recurring;
  error: string | null;
  onChange: (changes: Partial<Recurring>) => void;
}

const TRIGGERS: ReadonlyArray<{ value: ScriptProfileDraft['trigger']; label: string }> = [
  { value: 'recurring', label: 'On a schedule' },
  { value: 'one_time', label: 'Once' },
  { value: 'event', label: 'When a computer is enrolled' },
];
const EVERY: ReadonlyArray<{ value: Recurring['every']; label: string }> = [
  { value: 'hours', label: 'Every few hours' },
  { value: 'day', label: 'Daily' },
  { value: 'week', label: 'On days of the week' },
  { value: 'month', label: 'Monthly' },
  { value: 'custom', label: 'By cron fields' },
];

/** When a script profile runs. */
export function TriggerFields({ draft, change, error: saveError, dates }: TriggerFieldsProps) {
  const { trigger } = draft;
  const error = scheduleError(dates, saveError);
  return (
    <fieldset className="fieldset">
      <legend>Schedule</legend>
      <SelectField
        label="Runs"
        options={TRIGGERS}
        value={trigger}
        error={fieldError(error, 'body.trigger.trigger_type')}
        onChange={({ target }) => change({ trigger: target.value as ScriptProfileDraft['trigger'] })}
      />
      {trigger !== 'event' && (
        <ZoneField
          value={draft.timezone}
          error={fieldError(error, 'body.timezone')}
          onChange={(timezone) => change({ timezone })}
        />
      )}
      <TimeFields draft={draft} change={change} error={error} />
      {trigger !== 'event' && <NextDates {...dates} />}
    </fieldset>
  );
}

function TimeFields({ draft, change, error }: Omit<TriggerFieldsProps, 'dates'>) {
  return (
    <>
      {draft.trigger === 'one_time' && (
        <TextField
          label="Date and time"
          type="datetime-local"
          hint={`In ${draft.timezone}; a time in the past runs at once`}
          value={draft.at}
          error={fieldError(error, 'body.trigger.timestamp')}
          required
          onChange={({ target }) => change({ at: target.value })}
        />
      )}
      {draft.trigger === 'recurring' && (
        <>
          <TextField
            label="Not before"
            type="datetime-local"
            hint={`In ${draft.timezone}`}
            value={draft.startAfter}
            error={fieldError(error, 'body.trigger.start_after')}
            required
            onChange={({ target }) => change({ startAfter: target.value })}
          />
          <RecurringFields
            value={draft.recurring}
            error={fieldError(error, 'body.trigger.interval')}
            onChange={(changes) => change({ recurring: { ...draft.recurring, ...changes } })}
          />
        </>
      )}
    </>
  );
}

function RecurringFields(props: RecurringFieldsProps) {
  const { value, error, onChange } = props;
  return (
    <>
      <SelectField
        label="Repeat"
        options={EVERY}
        value={value.every}
        error={value.every === 'custom' ? null : error}
        onChange={({ target }) => {
          const every = target.value as Recurring['every'];
          onChange({ every, ...(every === 'custom' && value.cron === '' && { cron: toCron(value) }) });
        }}
      />
      {value.every === 'hours' && <HourFields {...props} />}
      {value.every === 'week' && <WeekdayFields {...props} />}
      {value.every === 'custom' && (
        <TextField
          label="Cron fields"
          hint="Minute, hour, day of the month, month, day of the week"
          className="mono"
          value={value.cron}
          error={error}
          required
          onChange={({ target }) => onChange({ cron: target.value })}
        />
      )}
      {['day', 'week', 'month'].includes(value.every) && <DayFields {...props} />}
    </>
  );
}

function HourFields({ value, onChange }: RecurringFieldsProps) {
  return (
    <div className="field-row">
      <TextField
        label="Every (hours)"
        type="number"
        min={1}
        max={23}
        required
        value={value.hours}
        onChange={({ target }) => onChange({ hours: target.value })}
      />
      <TextField
        label="Minute of the hour"
        type="number"
        min={0}
        max={59}
        required
        value={value.minute}
        onChange={({ target }) => onChange({ minute: target.value })}
      />
    </div>
  );
}

function DayFields({ value, onChange }: RecurringFieldsProps) {
  return (
    <div className="field-row">
      {value.every === 'month' && (
        <TextField
          label="Day of the month"
          type="number"
          min={1}
          max={31}
          required
          value={value.day}
          onChange={({ target }) => onChange({ day: target.value })}
        />
      )}
      <TextField
        label="Time of day"
        type="time"
        required
        value={value.time}
        onChange={({ target }) => onChange({ time: target.value })}
      />
    </div>
  );
}

function WeekdayFields({ value, onChange }: RecurringFieldsProps) {
  return (
    <Toggles
      label="Days of the week"
      options={CRON_WEEKDAYS}
      chosen={value.weekdays}
      onChange={(weekdays) => onChange({ weekdays })}
    />
  );
}

import { SelectField, TextField } from '../../../ui/field.tsx';
import { LAST_DAY, NTH, type Recurrence, toRule, WEEKDAYS } from '../recurrence.ts';

interface RecurrenceFieldsProps {
  value: Recurrence;
  error: string | null;
  onChange: (changes: Partial<Recurrence>) => void;
}

const EVERY: ReadonlyArray<{ value: Recurrence['every']; label: string }> = [
  { value: 'week', label: 'Weekly' },
  { value: 'month', label: 'Monthly' },
  { value: 'custom', label: 'By a rule (RFC 5545)' },
];
const ENDS: ReadonlyArray<{ value: Recurrence['ends']; label: string }> = [
  { value: 'never', label: 'Never' },
  { value: 'count', label: 'After a number of runs' },
  { value: 'until', label: 'On a date' },
];
const DAYS = [
  ...Array.from({ length: 31 }, (_, index) => String(index + 1)).map((day) => ({ value: day, label: `Day ${day}` })),
  { value: LAST_DAY, label: 'Last day' },
];

/** On which dates a USG profile runs. */
export function RecurrenceFields({ value, error, onChange }: RecurrenceFieldsProps) {
  return (
    <>
      <SelectField
        label="Repeat"
        options={EVERY}
        value={value.every}
        error={value.every === 'custom' ? null : error}
        onChange={({ target }) => {
          const every = target.value as Recurrence['every'];
          // The rule begins as what the other fields say.
          onChange({ every, ...(every === 'custom' && value.rule === '' && { rule: toRule(value) }) });
        }}
      />
      {value.every === 'custom' ? (
        <TextField
          label="Rule"
          hint="Such as FREQ=MONTHLY;BYDAY=1MO; dates are at least seven days apart"
          className="mono"
          value={value.rule}
          error={error}
          required
          onChange={({ target }) => onChange({ rule: target.value })}
        />
      ) : (
        <SimpleFields value={value} onChange={onChange} />
      )}
    </>
  );
}

function SimpleFields({ value, onChange }: Pick<RecurrenceFieldsProps, 'value' | 'onChange'>) {
  const unit = value.every === 'week' ? 'weeks' : 'months';
  const isByWeekday = value.every === 'week' || value.by === 'weekday';
  return (
    <>
      <div className="field-row">
        <TextField
          label={`Every (${unit})`}
          type="number"
          min={1}
          max={99}
          required
          value={value.interval}
          onChange={({ target }) => onChange({ interval: target.value })}
        />
        {value.every === 'month' && (
          <SelectField
            label="By"
            options={[
              { value: 'weekday', label: 'Weekday' },
              { value: 'day', label: 'Day of the month' },
            ]}
            value={value.by}
            onChange={({ target }) => onChange({ by: target.value as Recurrence['by'] })}
          />
        )}
        {value.every === 'month' && (
          <SelectField
            label="Which"
            options={isByWeekday ? NTH : DAYS}
            value={isByWeekday ? value.nth : value.day}
            onChange={({ target }) => onChange(isByWeekday ? { nth: target.value } : { day: target.value })}
          />
        )}
        {isByWeekday && (
          <SelectField
            label="Weekday"
            options={WEEKDAYS}
            value={value.weekday}
            onChange={({ target }) => onChange({ weekday: target.value })}
          />
        )}
      </div>
      <EndFields value={value} onChange={onChange} />
    </>
  );
}

function EndFields({ value, onChange }: Pick<RecurrenceFieldsProps, 'value' | 'onChange'>) {
  return (
    <div className="field-row">
      <SelectField
        label="Ends"
        options={ENDS}
        value={value.ends}
        onChange={({ target }) => onChange({ ends: target.value as Recurrence['ends'] })}
      />
      {value.ends === 'count' && (
        <TextField
          label="Number of runs"
          type="number"
          min={1}
          required
          value={value.count}
          onChange={({ target }) => onChange({ count: target.value })}
        />
      )}
      {value.ends === 'until' && (
        <TextField
          label="Last date"
          type="date"
          required
          value={value.until}
          onChange={({ target }) => onChange({ until: target.value })}
        />
      )}
    </div>
  );
}

import { computersText } from '../../domain/activities/summary.ts';
import { PROFILE_ALERT, WEBHOOK_ALERT } from '../../domain/events/alerts.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { type AlertRule, alertRule } from '../../persistence/query/alert-conditions.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { type AlertRow, dismissAlert, readAlerts } from '../../persistence/events/alerts.sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

export interface AlertView {
  id: number;
  type: string;
  label: string;
  description: string;
  scope: 'computer' | 'profile' | 'webhook';
  severity: AlertRule['severity'];
  /** `dismissed`: by the caller, on all affected computers. */
  status: 'active' | 'dismissed' | 'inactive';
  /** Subjects that the caller sees, dismissed or not. */
  count: number;
  /** Null unless it is active. */
  activationTime: Date | null;
}

interface ActiveAlert {
  type: string;
  summary: string;
  activationTime: Date;
}

export function createAlertsService({ db }: { db: Database }) {
  return {
    /** All alerts, active or not, with the subjects that the caller sees. */
    list: async (caller: Caller) => (await readAlerts(db, scopeOf(caller))).map(toView),
    /** Active alerts that the caller has not dismissed, with the time of the first occurrence. */
    async summarize(caller: Caller): Promise<ActiveAlert[]> {
      const rows = await readAlerts(db, scopeOf(caller));
      return rows.flatMap(({ name, fresh, activation_time: activationTime }) => {
        if (activationTime === null) return [];
        const { type, label, scope } = textsOf(name);
        const others = fresh === 1 ? `1 ${scope}` : `${fresh} ${scope}s`;
        const subjects = scope === 'computer' ? computersText(fresh) : others;
        return { type, summary: `${label} (${subjects})`, activationTime };
      });
    },
    /** For the caller only. Idempotent. @throws {DomainError} UnknownAlert @see docs/api-conventions.md#alerts */
    dismiss: (caller: Caller, id: number) =>
      db.transaction(async (tx) => {
        const alert = (await readAlerts(tx, scopeOf(caller))).find((row) => row.id === id);
        if (!alert) throw new DomainError('UnknownAlert', 'There is no such alert');
        await dismissAlert(tx, id, caller.personId);
        const { type } = textsOf(alert.name);
        await recordEvent(tx, caller, {
          entityType: 'Alert',
          entityId: id,
          entityName: type,
          message: `Dismissed the alert ${type} for themselves`,
        });
        return toView({ ...alert, fresh: 0, activation_time: null });
      }),
  };
}

function toView({ id, name, subjects, fresh, activation_time: activationTime }: AlertRow): AlertView {
  const status = fresh > 0 ? 'active' : subjects > 0 ? 'dismissed' : 'inactive';
  return { id, ...textsOf(name), status, count: subjects, activationTime };
}

const PROFILE_CREATORS = {
  type: 'ProfileCreatorsAlert',
  label: 'The creator of an active profile is no longer an administrator',
  description: 'Active script and USG profiles whose creator is no longer an administrator',
  scope: 'profile',
  severity: 'warning',
} as const;

const WEBHOOK_PAUSED = {
  type: 'WebhookPausedAlert',
  label: 'A webhook is paused because it failed',
  description:
    'Webhooks that are paused because nothing could be delivered for days, or because of their creator or query',
  scope: 'webhook',
  severity: 'warning',
} as const;

function textsOf(name: AlertRow['name']): Pick<AlertView, 'type' | 'label' | 'description' | 'scope' | 'severity'> {
  if (name === PROFILE_ALERT) return PROFILE_CREATORS;
  if (name === WEBHOOK_ALERT) return WEBHOOK_PAUSED;
  const { type, summary, description, severity } = alertRule(name);
  return { type, label: summary, description, scope: 'computer', severity };
}

function scopeOf(caller: Caller) {
  const { accountId, personId } = caller;
  const webhooks = caller.may('ManageAccount');
  return { accountId, groups: groupsOf(caller.groups('ViewComputer')), personId, webhooks };
}

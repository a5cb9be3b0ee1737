import { computersText } from '../../domain/activities/summary.ts';
import { PROFILE_ALERT } from '../../domain/events/alerts.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { alertRule } from '../../persistence/query/alert-conditions.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { type AlertRow, dismissAlert, readAlerts } from '../../persistence/events/alerts.repository.ts';
import { recordEvent } from '../../persistence/events/events.repository.ts';
import type { Database } from '../../persistence/database/sql.ts';
import type { Caller } from '../common/ports.ts';

/** `dismissed`: the caller has dismissed it on all affected computers. */
export type AlertStatus = 'active' | 'dismissed' | 'inactive';

export interface AlertView {
  id: number;
  type: string;
  label: string;
  description: string;
  scope: 'computer' | 'profile';
  status: AlertStatus;
}

export interface ActiveAlert {
  type: string;
  /** Includes the number of computers or profiles. */
  summary: string;
  /** Time of the first occurrence. */
  activationTime: Date;
}

/** Alerts about computers and profiles in access groups where the caller sees computers, derived from stored data. */
export interface AlertsService {
  list(caller: Caller): Promise<AlertView[]>;
  /** Active alerts that the caller has not dismissed. */
  summarize(caller: Caller): Promise<ActiveAlert[]>;
  /**
   * Hides an alert from the caller only, until it is raised again or on another computer. Idempotent.
   * @throws {DomainError} UnknownAlert
   * @see docs/api-conventions.md#alerts
   */
  dismiss(caller: Caller, id: number): Promise<AlertView>;
}

export function createAlertsService(deps: { db: Database }): AlertsService {
  const { db } = deps;
  return {
    list: async (caller) => (await readAlerts(db, scopeOf(caller))).map(toView),
    async summarize(caller) {
      const rows = await readAlerts(db, scopeOf(caller));
      return rows.flatMap(({ name, fresh, activation_time: activationTime }) => {
        const { type, summary, scope } = textsOf(name);
        if (activationTime === null) return [];
        const subjects = scope === 'computer' ? computersText(fresh) : profilesText(fresh);
        return [{ type, summary: `${summary} (${subjects})`, activationTime }];
      });
    },
    dismiss: (caller, id) =>
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
        return toView({ ...alert, fresh: 0 });
      }),
  };
}

function toView({ id, name, subjects, fresh }: AlertRow): AlertView {
  const { type, summary, description, scope } = textsOf(name);
  const status = fresh > 0 ? 'active' : subjects > 0 ? 'dismissed' : 'inactive';
  return { id, type, label: summary, description, scope, status };
}

const PROFILE_CREATORS = {
  type: 'ProfileCreatorsAlert',
  summary: 'The creator of an active profile is no longer an administrator',
  description: 'Active script and USG profiles whose creator is no longer an administrator',
};

function textsOf(name: AlertRow['name']): Pick<AlertView, 'type' | 'description' | 'scope'> & { summary: string } {
  if (name === PROFILE_ALERT) return { ...PROFILE_CREATORS, scope: 'profile' };
  const { type, summary, description } = alertRule(name);
  return { type, summary, description, scope: 'computer' };
}

function profilesText(count: number): string {
  return count === 1 ? '1 profile' : `${count} profiles`;
}

function scopeOf(caller: Caller) {
  const groups = caller.groups('ViewComputer');
  return { accountId: caller.accountId, groups: groupsOf(groups), personId: caller.personId };
}

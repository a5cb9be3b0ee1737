import { Migration } from '@mikro-orm/migrations';

/**
 * Finds lanes without messages, behind whose operations others of the same computers wait. The bound on waiting messages
 * is judged when they are handed over; none is held back any more. Operations of one activity can wait for another.
 */
export class Migration20261125070000DeliveryOrder extends Migration {
  override up(): void {
    this.addSql('create index lane_unopened on lane (account_id, parent_id) where opened_at is null');
    this.addSql(`update agent_message set state = 'queued' where state = 'held'`);
    this.addSql('drop index agent_message_held');
    this.addSql('alter table activity add column after_activity_id int');
    this.addSql('alter table lane add column after_activity_id int, add column awaited boolean not null default false');
    this.addSql(
      'create index lane_after on lane (after_activity_id) where after_activity_id is not null and closed_at is null',
    );
    this.addSql(`alter table agent_inbox drop constraint agent_inbox_kind_check,
      add constraint agent_inbox_kind_check check (kind in ('delivered', 'result', 'gone', 'cancel', 'prior'))`);
  }
}

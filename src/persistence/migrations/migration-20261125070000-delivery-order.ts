import { Migration } from '@mikro-orm/migrations';

/**
 * Finds lanes without messages, behind whose operations others of the same computers wait. The bound on waiting messages
 * is judged when they are handed over; none is held back any more.
 */
export class Migration20261125070000DeliveryOrder extends Migration {
  override up(): void {
    this.addSql('create index lane_unopened on lane (account_id, parent_id) where opened_at is null');
    this.addSql(`update agent_message set state = 'queued' where state = 'held'`);
    this.addSql('drop index agent_message_held');
  }
}

import { Migration } from '@mikro-orm/migrations';

/** The trace of the request that ordered operations, for gateways that hand them out. */
export class Migration20261121090000OperationTraces extends Migration {
  override up(): void {
    this.addSql('alter table operation_payload add column traceparent text');
  }
}

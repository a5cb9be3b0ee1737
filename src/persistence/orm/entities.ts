import { ActivityBlockSchema, ActivitySchema, OperationPayloadSchema } from '../activities/activity.entity.ts';
import { AgentMessageSchema, PendingEventSchema } from '../activities/agent-message.entity.ts';
import { BatchSchema } from '../activities/batch.entity.ts';
import { OutboxCommandSchema } from '../activities/outbox.entity.ts';
import { SystemSettingSchema } from '../common/system-setting.entity.ts';
import { StoredFileChunkSchema, StoredFileSchema } from '../compliance/stored-file.entity.ts';
import {
  UsgAuditReportSchema,
  UsgAuditSchema,
  UsgRuleSchema,
  UsgRuleSetSchema,
} from '../compliance/usg-audit.entity.ts';
import { UsgProfileSchema, UsgRunSchema } from '../compliance/usg-profile.entity.ts';
import { UsgReportSchema } from '../compliance/usg-report.entity.ts';
import {
  AgentIdentitySchema,
  AgentRejectedMessageSchema,
  AgentSchema,
  AgentSpareIdentitySchema,
  AgentUnknownTypeSchema,
} from '../agents/agent.entity.ts';
import {
  ComputerGroupSchema,
  ComputerHardwareSchema,
  ComputerInventorySchema,
  ComputerNetworkSchema,
  ComputerNoticeSchema,
  ComputerProcessSchema,
  ComputerRecoveryKeySchema,
  ComputerUserSchema,
} from '../computers/computer-facts.entity.ts';
import {
  ComputerContactSchema,
  ComputerSchema,
  ComputerStatusSchema,
  RemovedComputerSchema,
} from '../computers/computer.entity.ts';
import {
  ComputerContractSchema,
  ComputerLicenseSchema,
  ContractSchema,
  LegacyLicenseSchema,
} from '../computers/license.entity.ts';
import { ComputerProfileSchema, ProfileSchema } from '../computers/profile.entity.ts';
import { SavedSearchSchema } from '../computers/saved-search.entity.ts';
import {
  AlertDismissalSchema,
  AlertSchema,
  ProfileAlertDismissalSchema,
  ProfileAlertSchema,
  WebhookAlertDismissalSchema,
  WebhookAlertSchema,
} from '../events/alert.entity.ts';
import { CloudEventFeedSchema, CloudEventSchema } from '../events/cloud-event.entity.ts';
import { EventEntrySchema } from '../events/event.entity.ts';
import { WebhookDeliverySchema, WebhookSchema } from '../events/webhook.entity.ts';
import { AccessGroupSchema } from '../identity/access-group.entity.ts';
import { AccountSchema } from '../identity/account.entity.ts';
import { AccessKeySchema, CredentialSchema, RevokedTokenSchema } from '../identity/credential.entity.ts';
import { InvitationMailSchema, InvitationRoleSchema, InvitationSchema } from '../identity/invitation.entity.ts';
import { LoginAddressSchema, LoginFailureSchema } from '../identity/login.entity.ts';
import { FormerMemberSchema, MembershipRoleSchema, MembershipSchema } from '../identity/membership.entity.ts';
import { EmailChangeSchema, PersonAddressSchema, PersonSchema } from '../identity/person.entity.ts';
import { RoleAccessGroupSchema, RoleSchema } from '../identity/role.entity.ts';
import { ReconcilerMarkSchema } from '../schedules/reconciler-mark.entity.ts';
import { ScriptProfileRunSchema, ScriptProfileSchema } from '../scripts/script-profile.entity.ts';
import { ScriptAttachmentSchema, ScriptSchema, ScriptVersionSchema } from '../scripts/script.entity.ts';
import { HashIdDatabaseSchema } from '../software/hash-id-database.entity.ts';
import {
  AccountPackagesSchema,
  ComputerPackagesSchema,
  PackageChangeResultSchema,
  PackageFixSchema,
  PackageSchema,
} from '../software/package.entity.ts';
import { ComputerSnapSchema, SnapOperationBeforeSchema } from '../software/snap.entity.ts';

export const ENTITIES = [
  ActivityBlockSchema,
  ActivitySchema,
  OperationPayloadSchema,
  AgentMessageSchema,
  PendingEventSchema,
  BatchSchema,
  OutboxCommandSchema,
  SystemSettingSchema,
  StoredFileChunkSchema,
  StoredFileSchema,
  UsgAuditReportSchema,
  UsgAuditSchema,
  UsgRuleSchema,
  UsgRuleSetSchema,
  UsgProfileSchema,
  UsgRunSchema,
  UsgReportSchema,
  AgentIdentitySchema,
  AgentRejectedMessageSchema,
  AgentSchema,
  AgentSpareIdentitySchema,
  AgentUnknownTypeSchema,
  ComputerGroupSchema,
  ComputerHardwareSchema,
  ComputerInventorySchema,
  ComputerNetworkSchema,
  ComputerNoticeSchema,
  ComputerProcessSchema,
  ComputerRecoveryKeySchema,
  ComputerUserSchema,
  ComputerContactSchema,
  ComputerSchema,
  ComputerStatusSchema,
  RemovedComputerSchema,
  ComputerContractSchema,
  ComputerLicenseSchema,
  ContractSchema,
  LegacyLicenseSchema,
  ComputerProfileSchema,
  ProfileSchema,
  SavedSearchSchema,
  AlertDismissalSchema,
  AlertSchema,
  ProfileAlertDismissalSchema,
  ProfileAlertSchema,
  WebhookAlertDismissalSchema,
  WebhookAlertSchema,
  CloudEventFeedSchema,
  CloudEventSchema,
  EventEntrySchema,
  WebhookDeliverySchema,
  WebhookSchema,
  AccessGroupSchema,
  AccountSchema,
  AccessKeySchema,
  CredentialSchema,
  RevokedTokenSchema,
  InvitationMailSchema,
  InvitationRoleSchema,
  InvitationSchema,
  LoginAddressSchema,
  LoginFailureSchema,
  FormerMemberSchema,
  MembershipRoleSchema,
  MembershipSchema,
  EmailChangeSchema,
  PersonAddressSchema,
  PersonSchema,
  RoleAccessGroupSchema,
  RoleSchema,
  ReconcilerMarkSchema,
  ScriptProfileRunSchema,
  ScriptProfileSchema,
  ScriptAttachmentSchema,
  ScriptSchema,
  ScriptVersionSchema,
  AccountPackagesSchema,
  ComputerPackagesSchema,
  PackageChangeResultSchema,
  PackageFixSchema,
  PackageSchema,
  ComputerSnapSchema,
  SnapOperationBeforeSchema,
  HashIdDatabaseSchema,
];

declare module '../database/sql.ts' {
  interface Registry {
    entities: typeof ENTITIES;
  }
}

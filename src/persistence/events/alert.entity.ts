import { defineEntity, p } from '@mikro-orm/core';
import { Account } from '../identity/account.entity.ts';
import { Person } from '../identity/person.entity.ts';

export const AlertSchema = defineEntity({
  name: 'Alert',
  tableName: 'alert',
  properties: {
    id: p.integer().generated('by default as identity').primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref(),
    name: p.text(),
  },
  uniques: [{ name: 'alert_account_id_name_key', properties: ['account', 'name'] }],
});

export class Alert extends AlertSchema.class {}
AlertSchema.setClass(Alert);

export const AlertDismissalSchema = defineEntity({
  name: 'AlertDismissal',
  tableName: 'alert_dismissal',
  properties: {
    alert: () => p.manyToOne(Alert).deleteRule('cascade').updateRule('no action').ref().primary(),
    person: () =>
      p.manyToOne(Person).deleteRule('cascade').updateRule('no action').ref().primary().index('alert_dismissal_person'),
    dismissedAt: p.datetime(),
  },
});

export const ProfileAlertSchema = defineEntity({
  name: 'ProfileAlert',
  tableName: 'profile_alert',
  properties: {
    id: p.integer().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().unique('profile_alert_account_id_key'),
  },
});

export class ProfileAlert extends ProfileAlertSchema.class {}
ProfileAlertSchema.setClass(ProfileAlert);

export const ProfileAlertDismissalSchema = defineEntity({
  name: 'ProfileAlertDismissal',
  tableName: 'profile_alert_dismissal',
  properties: {
    alert: () => p.manyToOne(ProfileAlert).deleteRule('cascade').updateRule('no action').ref().primary(),
    person: () =>
      p
        .manyToOne(Person)
        .deleteRule('cascade')
        .updateRule('no action')
        .ref()
        .primary()
        .index('profile_alert_dismissal_person'),
    dismissedAt: p.datetime(),
  },
});

export const WebhookAlertSchema = defineEntity({
  name: 'WebhookAlert',
  tableName: 'webhook_alert',
  properties: {
    id: p.integer().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade').ref().unique('webhook_alert_account_id_key'),
  },
});

export class WebhookAlert extends WebhookAlertSchema.class {}
WebhookAlertSchema.setClass(WebhookAlert);

export const WebhookAlertDismissalSchema = defineEntity({
  name: 'WebhookAlertDismissal',
  tableName: 'webhook_alert_dismissal',
  properties: {
    alert: () => p.manyToOne(WebhookAlert).deleteRule('cascade').updateRule('no action').ref().primary(),
    person: () =>
      p
        .manyToOne(Person)
        .deleteRule('cascade')
        .updateRule('no action')
        .ref()
        .primary()
        .index('webhook_alert_dismissal_person'),
    dismissedAt: p.datetime(),
  },
});

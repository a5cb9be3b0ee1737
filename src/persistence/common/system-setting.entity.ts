import { defineEntity, p } from '@mikro-orm/core';

export const SystemSettingSchema = defineEntity({
  name: 'SystemSetting',
  tableName: 'system_setting',
  properties: {
    key: p.text().primary(),
    value: p.text(),
  },
});

export class SystemSetting extends SystemSettingSchema.class {}
SystemSettingSchema.setClass(SystemSetting);

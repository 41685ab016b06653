import { type AlertConditionName, alertConditionNames } from '@penstock/wire'

/** The columns of `alert_rules` with conditions: their names, with underscores. */
export const columnOf = (name: AlertConditionName): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
export const conditionColumns = alertConditionNames.map(columnOf).join(', ')

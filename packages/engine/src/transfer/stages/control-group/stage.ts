import { settingsPath } from '../../../map-rows.ts'
import type { StageKind } from '../stage.ts'
import { controlGroupOf, controlMembership, divideRows } from './control-group.ts'

/** Holds the control group of the connection back, or sends only the control group. */
export const controlGroup: StageKind = {
  name: 'control-group',
  passesRaw: true,
  needs: ({ destination }) =>
    controlGroupOf(destination.settings) && {
      values: 'the key of each of them decides whether it is in the control group',
    },
  async settingErrors({ settings }, columns) {
    const group = controlGroupOf(settings)
    if (!group) return []
    const field = `${settingsPath}.controlKey`
    if (group.key.length === 0) return [{ field, message: 'is required: name the columns that identify a person' }]
    return group.key
      .filter((name) => !columns.includes(name))
      .map((name) => ({ field, message: `names the column ${name}, which is not in the source` }))
  },
  open({ sides }) {
    const group = controlGroupOf(sides.settings)
    if (!group) return undefined
    const isMember = controlMembership(group)
    return { map: (mapped, { source }) => divideRows(group, isMember, mapped, source) }
  },
}

import { ConnectorError, type Row, type Values } from '@penstock/connector'
import type { ConsentPurpose } from '../../../consent-purpose.ts'
import type { RowMapping } from '../../../map-rows.ts'
import type { StageKind } from '../stage.ts'
import { agreesToUse, type ConsentField, fillConsent, readConsent, skipWithoutConsent } from './consent.ts'
import { lintConsent } from './lint.ts'

/** Skips rows without the consent that the connection requires, and fills the consent fields of the platform. */
export const consent: StageKind = {
  name: 'consent',
  needs: ({ purposes, destination }) => {
    const isChecked = purposes !== null && textOf(destination.settings).toLowerCase() !== none
    return isChecked ? { values: 'the consent of each of them is checked' } : undefined
  },
  open({ state: { purposes }, sides }) {
    const required = requiredBy(sides.settings, purposes ?? [])
    if (!purposes) return undefined
    let read: ReturnType<typeof readConsent> | undefined
    return {
      async map(mapped, { source, mapping }) {
        const fields = fieldsOf(mapping)
        const isUsed = ({ name, uses }: ConsentPurpose) =>
          required.includes(name) || fields.some(({ consent: { use } }) => uses.includes(use))
        const used = purposes.filter(isUsed)
        read ??= readConsent(used, source.columns)
        const agrees = await read
        const needed = required.flatMap((name) => agrees.get(name) ?? [])
        const kept = await skipWithoutConsent(needed, mapped, source, removerOf(mapping))
        return fillConsent(
          fields.map(
            ({ index, consent: { use, granted = null, denied = null } }): ConsentField => ({
              index,
              agrees: agreesToUse(use, used, agrees),
              granted,
              denied,
            }),
          ),
          kept,
          source,
        )
      },
      hints: ({ source }) =>
        lintConsent(
          purposes.filter(({ name }) => required.includes(name)),
          source,
        ),
    }
  },
}

const none = 'none'

const textOf = ({ purposes }: Values): string => String(purposes ?? '').trim()

/**
 * The names of the required purposes. @throws ConnectorError if the connection does not name them, or names a purpose that does
 * not exist
 */
function requiredBy(settings: Values, purposes: readonly ConsentPurpose[]): string[] {
  const text = textOf(settings)
  const names = purposes.map(({ name }) => name)
  if (text === '' && names.length > 0) {
    throw invalid(
      `State in the setting “Required consent” which purposes of the sub-account a record needs (${names.join(', ')}), or none.`,
    )
  }
  if (text === '' || text.toLowerCase() === none) return []
  const required = text.split(',').map((name) => name.trim())
  const unknown = required.find((name) => !names.includes(name))
  if (unknown === undefined) return required
  const known = names.length > 0 ? `The sub-account has ${names.join(', ')}.` : 'The sub-account has no purposes.'
  throw invalid(`The setting “Required consent” names the purpose “${unknown}”, which does not exist. ${known}`)
}

const invalid = (message: string): ConnectorError =>
  new ConnectorError('invalid_setting', message, { side: 'Destination' })

/** The consent fields that the mapping does not fill. */
const fieldsOf = ({ plan: { steps }, consentFields }: Pick<RowMapping, 'plan' | 'consentFields'>) =>
  steps.flatMap(({ field, definition }, index) =>
    definition?.consent && consentFields.includes(field) ? [{ index, consent: definition.consent }] : [],
  )

/** Whether a mapped row removes a person. People who withdraw their consent must be removed. */
function removerOf({ plan: { steps } }: Pick<RowMapping, 'plan'>): (row: Row) => boolean {
  const index = steps.findIndex(({ field, definition }) => field === 'action' && definition?.values?.includes('remove'))
  return index < 0 ? () => false : (row) => String(row[index] ?? '').toLowerCase() === 'remove'
}

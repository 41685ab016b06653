import { asWritten, flag, oneOf, plain } from '../kit/columns.ts'
import type { JsonObject } from '../platform-api/json.ts'

/** The consent of a person in columns, which only `consentsOf` sees. */
export const consentColumns = {
  privacy_type: oneOf('@consent.privacy_type', 'Which privacy rules the consent string is for: GDPR, CCPA or GPP', {
    values: asWritten('GDPR', 'CCPA', 'GPP'),
    wanted: 'GDPR, CCPA or GPP',
    usual: 'GDPR',
    with: 'consent_string',
  }),
  privacy_applies: flag('@consent.is_applicable', 'Whether these rules apply to the person', {
    as: 'number',
    usual: 1,
    with: 'consent_string',
  }),
  consent_string: plain('@consent.consent_string', 'Consent string of the person'),
}

/** The consents of a person: the list if the row has one, else the consent in columns. */
export function consentsOf(event: JsonObject, list: unknown): unknown {
  const own = event['@consent']
  return list ?? (own === undefined ? undefined : [own])
}

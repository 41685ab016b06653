import type { Normalisation } from '@penstock/connector'
import { decimal, digest, type EventColumns, flag, plain, texts } from '../kit/columns.ts'

const hashed = (to: string, description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  digest(to, description, normalise, { synonyms })

/** The column of IDs that people have for a page. */
export const pageScopedColumn = 'page_scoped_id'
/** The column that says what a person is worth. */
export const valueColumn = 'lookalike_value'
export const valueKey = 'LOOKALIKE_VALUE'
/** The column that limits what Meta does with a person. */
const limitedColumn = 'data_processing_options'
export const limitedPath = '@limited'
export const limitedKey = 'DATA_PROCESSING_OPTIONS'
/** Meta's name for IDs of yours, and the path of a list of them. */
export const externalKey = 'EXTERN_ID'
export const externalPath = '@extern_ids'

/** The identifiers of a person and the value, by Meta's names, in the order in which they are sent. */
export const personColumns: EventColumns = {
  email_sha256: hashed('EMAIL', 'Hashed e-mail address', 'email'),
  // Meta wants the digits with the country code, and no plus sign before them.
  phone_sha256: hashed('PHONE', 'Hashed phone number, in E.164 form before hashing', 'phone-digits'),
  fname_sha256: hashed('FN', 'Hashed first name', 'name-joined', ['fname', 'fn', 'first_name', 'given_name']),
  lname_sha256: hashed('LN', 'Hashed last name', 'name-joined', ['lname', 'ln', 'last_name', 'family_name', 'surname']),
  postal_code_sha256: hashed('ZIP', 'Hashed postal code', 'postal-code'),
  country_code_sha256: hashed('COUNTRY', 'Hashed two-letter country code', 'country'),
  dobm_sha256: hashed('DOBM', 'Hashed month of birth, as MM', 'birth-month', ['dobm', 'birth_month']),
  dobd_sha256: hashed('DOBD', 'Hashed day of birth, as DD', 'birth-day', ['dobd', 'birth_day']),
  doby_sha256: hashed('DOBY', 'Hashed year of birth, as YYYY', 'birth-year', ['doby', 'birth_year']),
  maid: plain('MADID', 'Advertising ID of a mobile device, not hashed', {
    identifies: true,
    normalise: 'device-id',
    synonyms: ['madid', 'mobile_advertiser_id', 'idfa', 'gaid', 'aaid'],
  }),
  // Meta uses one name for both. The value that is not hashed is preferred.
  extern_id: plain('EXTERN_ID', 'Your own ID of the person, not hashed', {
    identifies: true,
    normalise: 'external-id',
    synonyms: ['external_id'],
  }),
  extern_ids: texts(
    externalPath,
    'Several IDs of your own of the person, not hashed, as a JSON list or separated by semicolons or commas; Meta gets the person once for each',
    { identifies: true, normalise: 'external-id', synonyms: ['external_ids'] },
  ),
  extern_id_sha256: hashed('EXTERN_ID', 'Your own ID of the person, hashed', 'external-id'),
  gender_sha256: hashed('GEN', 'Hashed gender, m or f', 'gender', ['gender', 'gen']),
  city_sha256: hashed('CT', 'Hashed city', 'city', ['city', 'ct']),
  state_sha256: hashed('ST', 'Hashed state; in the USA its two-letter code', 'state', ['state', 'st']),
  finitial_sha256: hashed('FI', 'Hashed initial of the first name', 'initial', [
    'first_initial',
    'f_first',
    'fi',
    'finitial',
  ]),
  [pageScopedColumn]: plain('PAGEUID', 'ID of the person for the page of the setting “Page ID”, not hashed', {
    identifies: true,
    normalise: 'text',
    synonyms: ['page_scoped_user_id', 'psid', 'pageuid'],
  }),
  [valueColumn]: decimal(valueKey, 'Value of the person to you, 0 or more, for value-based lookalike audiences', {
    min: 0,
  }),
  [limitedColumn]: flag(limitedPath, 'LDU or true if Meta must limit the use of the person’s data', {
    words: { ldu: true, '["ldu"]': true, '[]': false },
    synonyms: ['limited_data_use', 'ldu'],
  }),
}

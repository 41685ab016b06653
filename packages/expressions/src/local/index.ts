/** Numbers, times and answers as people write them, for expressions and for the fields of a mapping. */

export { answerKey } from './answer-key.ts'
export {
  type DateForm,
  dateForms,
  type LocalForm,
  type LocalRead,
  type NumberForm,
  numberForms,
} from './local-forms.ts'
export { numberReadings, readLocalNumber, withoutUnit } from './local-numbers.ts'
export { dateReadings, orderOf, readLocalTime } from './local-times.ts'
export { isTimezone } from './timezones.ts'

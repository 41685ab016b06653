export { specOf } from './airbyte.ts'
export { definitionOfProgram, type Program } from './definition-of-program.ts'
export { formOf, formOfTap, type ProgramForm } from './form.ts'

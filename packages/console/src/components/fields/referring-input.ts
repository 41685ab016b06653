import { type ComponentType, createContext, type ReactNode } from 'react'
import type { FieldInputProps } from './field-words.ts'

/** Enters a secret as its value, by the given input, or as a reference to a secret manager. */
export type ReferringInputProps = FieldInputProps & { focused: boolean; typed: ReactNode }

/** The input of secrets that can be references. Absent on the connect page, whose visitors enter only values. */
export const ReferringInput = createContext<ComponentType<ReferringInputProps> | undefined>(undefined)

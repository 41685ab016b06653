import { Textarea, TextInput } from '@mantine/core'
import { type ClipboardEvent, useState } from 'react'
import { mono } from '../mono.ts'
import { type FieldInputProps, wordsOf } from './field-words.ts'
import type { FormField } from './form-field.ts'

/** Fields that take several lines, by what their definitions say of them. */
export const takesLines = ({ name, description }: FormField): boolean =>
  /sql|json/i.test(name) || /\b(JSON|PEM|pasted)\b|\{"/.test(description)

/** The text of an input after the clipboard has replaced the selection. */
export function pasted(event: ClipboardEvent<HTMLInputElement | HTMLTextAreaElement>): string {
  const { value, selectionStart, selectionEnd } = event.currentTarget
  const text = event.clipboardData.getData('text')
  return value.slice(0, selectionStart ?? value.length) + text + value.slice(selectionEnd ?? value.length)
}

export const hasLines = (event: ClipboardEvent): boolean => event.clipboardData.getData('text').trim().includes('\n')

/** A text: one line, or a block that grows where the field takes several or several are pasted. */
export function LineInput(props: FieldInputProps) {
  const { field, value, onChange } = props
  const [grown, setGrown] = useState(false)
  const text = String(value)
  const shared = { ...wordsOf(props), value: text, placeholder: field.default, autoComplete: 'off', spellCheck: false }
  if (grown || takesLines(field) || text.includes('\n')) {
    return (
      <Textarea
        {...shared}
        autosize
        minRows={2}
        maxRows={12}
        autoFocus={grown}
        styles={mono}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )
  }
  return (
    <TextInput
      {...shared}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      // One line would join the lines of what is pasted, and break it without a word.
      onPaste={(event) => {
        if (!hasLines(event)) return
        event.preventDefault()
        setGrown(true)
        onChange(pasted(event))
      }}
    />
  )
}

import { useEffect, useRef } from 'react'

type Keys = {
  readonly send: () => void
  readonly save: () => void
  /** @param step from 1 */
  readonly panel: (step: string) => void
}

/** The keys of the screen: Ctrl Enter sends the request, Ctrl S saves, Alt and a digit lead to a step. Dialogs keep theirs. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.shiftKey) return
      if (event.target instanceof Element && event.target.closest('[role="dialog"]')) return
      const { send, save, panel } = latest.current
      const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey
      if (isCommand && event.key === 'Enter') send()
      else if (isCommand && event.key.toLowerCase() === 's') save()
      else if (event.altKey && !event.ctrlKey && /^Digit[1-4]$/.test(event.code)) panel(event.code.slice(-1))
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}

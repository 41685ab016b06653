/**
 * Opens a Penstock connect link on your page, and reports its result. Messages are accepted only from the opened
 * window, and only from the origin of the link.
 */

/** Event of the page of the link. */
export type ConnectEvent = {
  /**
   * opened: the customer has begun. configured: a connector is saved and checked. declined: the customer did not grant access
   * at the platform, and can try again. failed: see `reason`. completed, cancelled: the link has ended.
   */
  readonly type: 'opened' | 'configured' | 'declined' | 'failed' | 'completed' | 'cancelled'
  /** Identifier of the connect link. */
  readonly connectLinkId: string
  /** The connector that was `configured` or `declined`, or at which the page `failed`. */
  readonly connectorId?: string
  /** Of `completed`: the connection that was created. */
  readonly connectionId?: string
  /**
   * Reason of `failed`. check_failed, authorization_failed: the platform refused the credentials or the authorization, and the
   * customer can try again. link_invalid: the link cannot be used. link_expired: the link expired while it was open.
   */
  readonly reason?: 'check_failed' | 'authorization_failed' | 'link_invalid' | 'link_expired'
}

export type ConnectOptions = {
  /** `dialog` (the default): a frame above your page. `popup`: a window; call `openConnect` in a click handler. */
  readonly mode?: 'dialog' | 'popup'
  /** Title of the frame for screen readers. */
  readonly title?: string
  /** Called for each event. */
  readonly onEvent?: (event: ConnectEvent) => void
}

/** How the page ended. `cancelled` is also the result if the customer closed the dialog or the window. */
export type ConnectResult = {
  readonly status: 'completed' | 'cancelled' | 'failed'
  readonly connectionId?: string | undefined
}

export type Connect = {
  readonly result: Promise<ConnectResult>
  /** Closes the dialog or the window. */
  close(): void
}

/** @param url of the link, as `createConnectLink` returns it */
export function openConnect(url: string, { mode, title = 'Connect', onEvent }: ConnectOptions = {}): Connect {
  const address = new URL(url)
  address.hash += `&origin=${encodeURIComponent(location.origin)}`
  let view: Window | null
  let remove: () => void
  let settle: (result: ConnectResult) => void
  const result = new Promise<ConnectResult>((resolve) => {
    settle = resolve
  })
  const end = (status: ConnectResult['status'], connectionId?: string) => {
    removeEventListener('message', hear)
    remove()
    settle(connectionId ? { status, connectionId } : { status })
  }
  const close = () => end('cancelled')
  const hear = ({ origin, source, data }: MessageEvent) => {
    if (origin !== address.origin || source !== view || data?.source !== 'penstock-connect') return
    const { source: _, ...event } = data
    onEvent?.(event)
    const { type, reason } = event
    if (type === 'completed' || type === 'cancelled') end(type, event.connectionId)
    // The page explains what to do, and stays open until the customer closes it.
    else if (reason?.startsWith('link')) settle({ status: 'failed' })
  }
  addEventListener('message', hear)
  if (mode === 'popup') {
    const popup = open(address.href, '_blank', 'popup,width=560,height=760')
    view = popup
    const timer = setInterval(() => popup?.closed !== false && close(), 500)
    remove = () => {
      clearInterval(timer)
      popup?.close()
    }
  } else {
    const dialog = document.createElement('dialog')
    const frame = document.createElement('iframe')
    const button = document.createElement('button')
    dialog.style.cssText =
      'padding:0;border:0;border-radius:12px;overflow:hidden;width:min(560px,96vw);height:min(760px,94vh);max-width:none;max-height:none'
    frame.style.cssText = 'display:block;width:100%;height:100%;border:0'
    button.style.cssText =
      'position:absolute;top:10px;right:10px;width:32px;height:32px;border:0;border-radius:16px;background:#fff;color:#222;font:20px/1 sans-serif;cursor:pointer'
    frame.title = title
    frame.src = address.href
    button.type = 'button'
    button.textContent = '×'
    button.ariaLabel = 'Close'
    button.onclick = dialog.oncancel = close
    dialog.ariaLabel = title
    dialog.append(frame, button)
    document.body.append(dialog)
    dialog.showModal()
    view = frame.contentWindow
    remove = () => dialog.remove()
  }
  return { result, close }
}

import { column, defineConnector } from '@penstock/connector'
import { developerPortal } from './developer-portal.ts'
import { theTradeDesk } from './platform.ts'

/** Conversions for The Trade Desk as they happen. */
export const theTradeDeskRealTimeConversions = defineConnector({
  slug: 'the-trade-desk-real-time-conversions',
  name: 'The Trade Desk Real-Time Conversion Events',
  platform: theTradeDesk,
  dataType: 'raw real-time conversion events',
  dataTypeCategory: 'events',
  description: 'Reports conversions to The Trade Desk as they happen, to target people again and to credit ads.',
  notes: 'Choose a token that stays valid for at least six months.',
  secrets: developerPortal,
  destination: {
    records: {
      merchant_id: column({ description: 'ID of the merchant' }),
      tracker_id: column({ description: 'ID of the tracking tag' }),
      adv: column({ description: 'ID of the advertiser' }),
      value: column({ description: 'What the conversion was worth' }),
      currency: column({ description: 'Currency of the value, as a code' }),
      event_name: column({ description: 'Name of the event' }),
      client_ip: column({ description: 'IP address of the visitor' }),
      referrer_url: column({ description: 'Address of the page from which the visitor came' }),
      adid: column({ description: 'ID of the user or the device' }),
      adid_type: column({ description: 'What kind of ID adid is: TDID, RampID, mobile advertising ID, UID2 or EUID' }),
      imp: column({ description: 'GUID of the impression' }),
      order_id: column({ description: 'ID of the order' }),
      items: column({ description: 'List of what was bought, each with item_code, name, qty, price and cat' }),
      td1: column({ description: 'First field of your own' }),
      td2: column({ description: 'Second field of your own' }),
      td3: column({ description: 'Third field of your own' }),
      td4: column({ description: 'Fourth field of your own' }),
      td5: column({ description: 'Fifth field of your own' }),
      td6: column({ description: 'Sixth field of your own' }),
      td7: column({ description: 'Seventh field of your own' }),
      td8: column({ description: 'Eighth field of your own' }),
      td9: column({ description: 'Ninth field of your own' }),
      td10: column({ description: 'Tenth field of your own' }),
      data_processing_option: column({ description: 'Privacy rules that apply to the event, and its region' }),
    },
  },
})

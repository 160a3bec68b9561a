// Search without a server. Browsers refuse workers to pages that are read from a folder, and the
// search of these pages is one. There, and only there, its script runs in an empty frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve, reject) => {
        const start = () => {
          const inner = frame.contentWindow;
          // What a worker sends goes to the page that made it.
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inner.document.createElement("script");
          script.src = new URL(url, location.href).href;
          script.onload = () => resolve(inner);
          script.onerror = reject;
          inner.document.head.append(script);
        };
        const add = () => {
          document.body.append(frame);
          start();
        };
        if (document.body) add();
        else document.addEventListener("DOMContentLoaded", add);
      });
    }

    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new inner.MessageEvent("message", { data })));
    }
  };
}
